package engine

import (
	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/internal/minors"
)

// A feature is a part of the API server's handling of custom resources that not all minor versions
// have. Features of schemas are in package schema, and features of metadata in package metadata.
type feature uint8

const (
	// ratchets: an update ignores schema errors and false rules of unchanged values.
	ratchets feature = iota
	// ratchetsStatus: an update of the status ignores them as well.
	ratchetsStatus
	// optionalOldSelf: the field exists. Before, its rules are ordinary transition rules.
	optionalOldSelf
	// runsWithoutOld: rules with optionalOldSelf run without an old value.
	runsWithoutOld
	// rulesInAllOf: rules under allOf run.
	rulesInAllOf
	// statusPaths: schema errors of a status update have the path of the status. Before, their path
	// starts below it.
	statusPaths
	// enumsBlockRules: rules do not run if a value is not in its enum.
	enumsBlockRules
	// decodedMetadata: the strategy decodes metadata before it validates it.
	decodedMetadata
	// finalizerWarnings: new finalizers with unusual names cause warnings.
	finalizerWarnings
	// finalizerPaths: the warning differs for names with a dot.
	finalizerPaths
	// ownFieldPaths: the fieldPath of a rule is only used for its own error. Before, the later rules of
	// the same node report their errors below it.
	ownFieldPaths
	// ruleValues: the error of a false rule shows the value, unless it is an object or a list. Before,
	// it shows the type.
	ruleValues
	// managedDuplicates: the field manager accepts lists of type set and map with duplicates. Before, it
	// fails.
	managedDuplicates
	// managedPartialKeys: the field manager accepts elements of a list of type map that lack some of the
	// keys. Before, it fails.
	managedPartialKeys
	// managedCleared: if the field manager fails, the server clears managedFields. Otherwise it keeps
	// the old ones.
	managedCleared
	features
)

// featureMinors holds the versions that have each feature. Files are relative to
// k8s.io/apiextensions-apiserver/pkg.
var featureMinors = [features]minors.Range{
	ratchets:          minors.Since(30), // features/kube_features.go, CRDValidationRatcheting is on by default
	ratchetsStatus:    minors.Since(33), // registry/customresource/status_strategy.go, ValidateUpdate
	optionalOldSelf:   minors.Since(29), // apis/apiextensions/v1/types_jsonschema.go, ValidationRule
	runsWithoutOld:    minors.Since(30), // apiserver/schema/cel/validation.go, with the same gate as ratchets
	rulesInAllOf:      minors.Since(31), // apiserver/schema/cel/validation.go, AllOfValidators
	statusPaths:       minors.Since(31), // registry/customresource/validator.go, ValidateStatusUpdate
	enumsBlockRules:   minors.Since(29), // registry/customresource/strategy.go, hasBlockingErr
	decodedMetadata:   minors.Since(37), // registry/customresource/validator.go, getObjectMeta
	finalizerWarnings: minors.Since(29), // registry/customresource/strategy.go, generateWarningsFromObj
	finalizerPaths:    minors.Since(32), // registry/customresource/validator.go, validateKubeFinalizerName
	ownFieldPaths:     minors.Since(30), // apiserver/schema/cel/validation.go, validateExpressions
	ruleValues:        minors.Since(35), // apiserver/schema/cel/validation.go, validateExpressions

	managedDuplicates:  minors.Since(29), // k8s.io/apimachinery/pkg/util/managedfields, AllowDuplicates
	managedPartialKeys: minors.Since(34), // sigs.k8s.io/structured-merge-diff 6.3, keyedAssociativeListItemToPathElement
	managedCleared:     minors.Until(37), // k8s.io/apimachinery/pkg/util/managedfields/internal/fieldmanager.go, UpdateNoErrors
}

// A server describes the API server of one minor version. It is immutable.
type server struct {
	minor    int
	has      [features]bool
	metadata *metadata.Validator
	render   respond.Renderer
}

var serverOf = minors.Each(newServer)

func newServer(minor int) *server {
	s := &server{minor: minor, metadata: metadata.For(minor), render: respond.RendererFor(minor)}
	for f, in := range featureMinors {
		s.has[f] = in.Include(minor)
	}
	return s
}
