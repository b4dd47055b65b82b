package builtin

import (
	"errors"
	"fmt"
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
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
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
// object cannot be decoded. Expressions are compiled with the server's own environments and limits.
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
		errs = validation.ValidateAuthenticationConfiguration(authenticationcel.NewDefaultCompiler(), c, nil)
	case *apiserver.AuthorizationConfiguration:
		known, repeatable := sets.New(modes.AuthorizationModeChoices...), sets.New(modes.ModeWebhook)
		errs = validation.ValidateAuthorizationConfiguration(authorizationcel.NewDefaultCompiler(), nil, c, known, repeatable)
	default:
		return nil, errors.New("no configuration")
	}
	res = &engine.Result{Allowed: len(errs) == 0}
	for _, e := range errs {
		res.Causes = append(res.Causes, engine.Cause{
			Type: e.Type, Reason: metav1.CauseType(e.Type), Field: strings.TrimPrefix(e.Field, "."),
			Message: e.ErrorBody(), Detail: e.Detail,
		})
	}
	return res, nil
}
