// Package controller reconciles Backups.
package controller

import (
	"context"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "example.com/operator/api/v1"
)

// BackupReconciler sets the status of each Backup to Scheduled.
type BackupReconciler struct{ client.Client }

// Reconcile updates the status of a Backup whose spec has changed.
func (r *BackupReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	backup := &v1.Backup{}
	if err := r.Get(ctx, req.NamespacedName, backup); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if backup.Status.ObservedGeneration == backup.Generation {
		return ctrl.Result{}, nil
	}
	backup.Status.Phase, backup.Status.ObservedGeneration = "Scheduled", backup.Generation
	return ctrl.Result{}, r.Status().Update(ctx, backup)
}
