package kube

import (
	"context"
	"os"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// account returns a folder with the pod's service account. It is empty if the pod does not mount
// the account.
func (r *runner) account(ctx context.Context, pod *corev1.Pod) (string, error) {
	dir := r.p.path(pod.Name + ".account")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	accounts := r.client.CoreV1().ServiceAccounts(pod.Namespace)
	mounted := pod.Spec.AutomountServiceAccountToken
	if pod.Spec.ServiceAccountName == "" || mounted != nil && !*mounted {
		return dir, nil
	}
	if mounted == nil {
		account, err := accounts.Get(ctx, pod.Spec.ServiceAccountName, metav1.GetOptions{})
		if err != nil {
			return "", err
		}
		if mounted = account.AutomountServiceAccountToken; mounted != nil && !*mounted {
			return dir, nil
		}
	}
	token, err := accounts.CreateToken(ctx, pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	authority, err := os.ReadFile(r.p.path("certs/apiserver.crt"))
	if err != nil {
		return "", err
	}
	for name, text := range map[string]string{"token": token.Status.Token, "ca.crt": string(authority), "namespace": pod.Namespace} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// inPod mounts a service account at the path where a pod has it, for a single process.
const inPod = `mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io && cp -r "$ACCOUNT" /run/secrets/kubernetes.io/serviceaccount && exec "$@"`

func (r *runner) volume(pod *corev1.Pod, name string) string {
	dir := r.p.path(filepath.Join("volumes", pod.Name, name))
	for _, v := range pod.Spec.Volumes {
		if v.Name != name {
			continue
		}
		if v.PersistentVolumeClaim != nil {
			dir = r.claim(v.PersistentVolumeClaim.ClaimName)
		}
		if v.ConfigMap != nil {
			dir = r.p.path(filepath.Join("configmaps", v.ConfigMap.Name)) // a fixed path for all pods, as in a cluster
			if err := r.unpack(pod.Namespace, v.ConfigMap.Name, dir); err != nil {
				r.p.t.Errorf("ConfigMap %s: %v", v.ConfigMap.Name, err)
			}
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		r.p.t.Error(err)
	}
	return dir
}

// claim returns the folder of a PersistentVolumeClaim, which all pods share.
func (r *runner) claim(name string) string { return r.p.path(filepath.Join("claims", name)) }

func (r *runner) unpack(namespace, name, dir string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := os.Stat(dir); err == nil {
		return nil // another pod may be reading it
	}
	data, err := r.client.CoreV1().ConfigMaps(namespace).Get(r.p.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for key, text := range data.Data {
		if err := os.WriteFile(filepath.Join(dir, key), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
