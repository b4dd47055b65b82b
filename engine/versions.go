package engine

import (
	"github.com/celadon-cel/celadon/engine/internal/metadata"
	"github.com/celadon-cel/celadon/engine/internal/respond"
	"github.com/celadon-cel/celadon/internal/minors"
)

// The parts of the API server's handling of custom resources that not all minor versions have. Those of schemas are
// in package schema, and those of metadata in package metadata. Files are relative to
// k8s.io/apiextensions-apiserver/pkg.
var (
	// ratchets: an update ignores schema errors and false rules of unchanged values.
	ratchets = minors.Since(30) // features/kube_features.go, CRDValidationRatcheting is on by default
	// ratchetsStatus: an update of the status ignores them as well.
	ratchetsStatus = minors.Since(33) // registry/customresource/status_strategy.go, ValidateUpdate
	// optionalOldSelf: the field exists. Before, its rules are ordinary transition rules.
	optionalOldSelf = minors.Since(29) // apis/apiextensions/v1/types_jsonschema.go, ValidationRule
	// runsWithoutOld: rules with optionalOldSelf run without an old value.
	runsWithoutOld = minors.Since(30) // apiserver/schema/cel/validation.go, with the same gate as ratchets
	// rulesInAllOf: rules under allOf run.
	rulesInAllOf = minors.Since(31) // apiserver/schema/cel/validation.go, AllOfValidators
	// statusPaths: schema errors of a status update have the path of the status. Before, their path
	// starts below it.
	statusPaths = minors.Since(31) // registry/customresource/validator.go, ValidateStatusUpdate
	// enumsBlockRules: rules do not run if a value is not in its enum.
	enumsBlockRules = minors.Since(29) // registry/customresource/strategy.go, hasBlockingErr
	// decodedMetadata: the strategy decodes metadata before it validates it.
	decodedMetadata = minors.Since(37) // registry/customresource/validator.go, getObjectMeta
	// finalizerWarnings: new finalizers with unusual names cause warnings.
	finalizerWarnings = minors.Since(29) // registry/customresource/strategy.go, generateWarningsFromObj
	// finalizerPaths: the warning differs for names with a dot.
	finalizerPaths = minors.Since(32) // registry/customresource/validator.go, validateKubeFinalizerName
	// ownFieldPaths: the fieldPath of a rule is only used for its own error. Before, the later rules of
	// the same node report their errors below it.
	ownFieldPaths = minors.Since(30) // apiserver/schema/cel/validation.go, validateExpressions
	// ruleValues: the error of a false rule shows the value, unless it is an object or a list. Before,
	// it shows the type.
	ruleValues = minors.Since(35) // apiserver/schema/cel/validation.go, validateExpressions
	// managedDuplicates: the field manager accepts lists of type set and map with duplicates. Before, it
	// fails.
	managedDuplicates = minors.Since(29) // k8s.io/apimachinery/pkg/util/managedfields, AllowDuplicates
	// managedPartialKeys: the field manager accepts elements of a list of type map that lack some of the
	// keys. Before, it fails.
	managedPartialKeys = minors.Since(34) // sigs.k8s.io/structured-merge-diff 6.3, keyedAssociativeListItemToPathElement
	// managedCleared: if the field manager fails, the server clears managedFields. Otherwise it keeps
	// the old ones.
	managedCleared = minors.Until(37) // k8s.io/apimachinery/pkg/util/managedfields/internal/fieldmanager.go, UpdateNoErrors
)

type server int

func (s server) has(in minors.Range) bool { return in.Include(int(s)) }

func (s server) metadata() metadata.Validator { return metadata.For(int(s)) }

func (s server) render() respond.Renderer { return respond.RendererFor(int(s)) }
