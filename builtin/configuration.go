package builtin

import (
	"errors"
	"fmt"
	"path"
	"runtime/debug"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/install"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	"k8s.io/kubernetes/pkg/kubeapiserver/authorizer/modes"

	"github.com/celadon-cel/celadon/engine"
)

const configurationGroup = "apiserver.config.k8s.io"

// IsConfiguration reports whether an object is a file that kube-apiserver reads and that can contain CEL: an
// AuthenticationConfiguration or an AuthorizationConfiguration.
func IsConfiguration(object map[string]any) bool {
	kind := kindOfObject(object)
	isKnown := kind.Kind == "AuthenticationConfiguration" || kind.Kind == "AuthorizationConfiguration"
	return kind.Group == configurationGroup && isKnown
}

var configurations = sync.OnceValue(func() runtime.Decoder {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDecoder()
})

// ValidateConfiguration validates an object for which IsConfiguration is true, as kube-apiserver
// does when it starts. Its result has Allowed and, if that is not set, Causes, or a Failure if the
// object cannot be decoded. Expressions are compiled with the server's own environments and limits. Files that the object
// names are not read, because they belong to the host of the server.
func ValidateConfiguration(object map[string]any) (res *engine.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			res, err = nil, &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
		}
	}()
	decoded, err := decodeBy(configurations(), object)
	if err != nil {
		return &engine.Result{Failure: &metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}}, nil
	}
	var errs field.ErrorList
	switch c := decoded.(type) {
	case *apiserver.AuthenticationConfiguration:
		errs = validation.ValidateAuthenticationConfiguration(authentication(), c, nil)
	case *apiserver.AuthorizationConfiguration:
		withoutFiles(c)
		known, repeatable := sets.New(modes.AuthorizationModeChoices...), sets.New(modes.ModeWebhook)
		errs = validation.ValidateAuthorizationConfiguration(authorization(), nil, c, known, repeatable)
	default:
		return nil, errors.New("no configuration")
	}
	res = &engine.Result{Allowed: len(errs) == 0}
	for _, e := range errs {
		res.Causes = append(res.Causes, engine.Cause{
			Type: e.Type, Reason: metav1.CauseType(e.Type), Field: configurationField(e.Field),
			Message: e.ErrorBody(), Detail: e.Detail,
		})
	}
	return res, nil
}

// withoutFiles replaces connections with absolute paths of kubeconfig files, because validation looks up the files.
func withoutFiles(c *apiserver.AuthorizationConfiguration) {
	for _, a := range c.Authorizers {
		if a.Webhook == nil || a.Webhook.ConnectionInfo.Type != apiserver.AuthorizationWebhookConnectionInfoTypeKubeConfigFile {
			continue
		}
		if file := a.Webhook.ConnectionInfo.KubeConfigFile; file != nil && path.IsAbs(*file) {
			a.Webhook.ConnectionInfo = apiserver.WebhookConnectionInfo{Type: apiserver.AuthorizationWebhookConnectionInfoTypeInCluster}
		}
	}
}

// configurationField returns the path of an error in the object. The server leaves out the field webhook of authorizers.
func configurationField(field string) string {
	field = strings.TrimPrefix(field, ".")
	authorizer, below, ok := strings.Cut(field, "].")
	name, _, _ := strings.Cut(below, ".")
	if !ok || !strings.HasPrefix(authorizer, "authorizers[") || name == "type" || name == "name" || name == "webhook" {
		return field
	}
	return authorizer + "].webhook." + below
}
