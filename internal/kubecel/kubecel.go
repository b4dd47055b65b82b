// Package kubecel is the only package of the main module that imports k8s.io/apiserver/pkg/cel outside of
// tests. It declares the names from there that Celadon uses, and nothing of its own.
//
// Values of cel-go are passed between that package and Celadon. Since k8s.io/apiserver 0.38, that package uses the
// module cel.dev/cel-go instead of github.com/google/cel-go, and the types of the two modules do not mix. A tree
// for these releases has other import paths; see docs/versions.md and tools/next.sh.
package kubecel

import (
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/library"
)

// The declarations of types.
type (
	DeclField        = apiservercel.DeclField
	DeclType         = apiservercel.DeclType
	DeclTypeProvider = apiservercel.DeclTypeProvider
)

// The values of the libraries.
type (
	CIDR     = apiservercel.CIDR
	Format   = apiservercel.Format
	IP       = apiservercel.IP
	Quantity = apiservercel.Quantity
	Semver   = apiservercel.Semver
	URL      = apiservercel.URL
)

// The types of the libraries.
var (
	CIDRType     = apiservercel.CIDRType
	FormatType   = apiservercel.FormatType
	IPType       = apiservercel.IPType
	QuantityType = apiservercel.QuantityType
	SemverType   = apiservercel.SemverType
	URLType      = apiservercel.URLType

	AuthorizerType    = library.AuthorizerType
	DecisionType      = library.DecisionType
	ResourceCheckType = library.ResourceCheckType
)

// The types of fields.
var (
	AnyType       = apiservercel.AnyType
	BoolType      = apiservercel.BoolType
	BytesType     = apiservercel.BytesType
	DoubleType    = apiservercel.DoubleType
	DurationType  = apiservercel.DurationType
	DynType       = apiservercel.DynType
	IntType       = apiservercel.IntType
	NullType      = apiservercel.NullType
	StringType    = apiservercel.StringType
	TimestampType = apiservercel.TimestampType
	UintType      = apiservercel.UintType

	NewDeclField             = apiservercel.NewDeclField
	NewDeclTypeProvider      = apiservercel.NewDeclTypeProvider
	NewListType              = apiservercel.NewListType
	NewMapType               = apiservercel.NewMapType
	NewObjectType            = apiservercel.NewObjectType
	NewSimpleTypeWithMinSize = apiservercel.NewSimpleTypeWithMinSize
)

// The sizes of requests, of values in JSON, and of formats.
const (
	DefaultMaxRequestSizeBytes = apiservercel.DefaultMaxRequestSizeBytes
	JSONDateSize               = apiservercel.JSONDateSize
	MaxDatetimeSizeJSON        = apiservercel.MaxDatetimeSizeJSON
	MaxDurationSizeJSON        = apiservercel.MaxDurationSizeJSON
	MaxFormatSize              = apiservercel.MaxFormatSize
	MaxNameFormatRegexSize     = apiservercel.MaxNameFormatRegexSize
	MinBoolSize                = apiservercel.MinBoolSize
	MinDatetimeSizeJSON        = apiservercel.MinDatetimeSizeJSON
	MinDurationSizeJSON        = apiservercel.MinDurationSizeJSON
	MinNumberSize              = apiservercel.MinNumberSize
	MinStringSize              = apiservercel.MinStringSize
)

// Escape and Unescape convert names of fields to and from identifiers in expressions.
var (
	Escape   = apiservercel.Escape
	Unescape = apiservercel.Unescape
)

// The libraries, and the costs of their functions.
var (
	AuthzLibrary          = library.Authz
	AuthzSelectorsLibrary = library.AuthzSelectors
	CIDRLibrary           = library.CIDR
	FormatLibrary         = library.Format
	IPLibrary             = library.IP
	JSONPatchLibrary      = library.JSONPatch
	ListsLibrary          = library.Lists
	QuantityLibrary       = library.Quantity
	RegexLibrary          = library.Regex
	URLsLibrary           = library.URLs
	SemverLib             = library.SemverLib
	SemverVersion         = library.SemverVersion

	NewAuthorizerVal         = library.NewAuthorizerVal
	NewResourceAuthorizerVal = library.NewResourceAuthorizerVal
)

type (
	// CostEstimator estimates and prices calls of the libraries' functions.
	CostEstimator = library.CostEstimator
	// A Resource is the resource of a request.
	Resource = library.Resource
)
