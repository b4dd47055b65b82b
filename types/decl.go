package types

import (
	"errors"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/internal/kubecel"
)

// A Kind is the CEL type with which a schema node is declared.
type Kind uint8

const (
	// Hidden nodes have no CEL type, for example data kept only by
	// x-kubernetes-preserve-unknown-fields, and lists or maps of such data. They affect equality,
	// but expressions cannot read them.
	Hidden Kind = iota
	Object
	Map
	List
	String
	Bytes     // format byte
	Duration  // format duration
	Date      // format date
	Timestamp // format date-time
	Bool
	Int
	Double
	IntOrString // dyn
)

// ErrHidden reports that a schema node has no CEL type.
var ErrHidden = errors.New("no CEL type: the schema is not visible to rules")

// A ListType is a value of x-kubernetes-list-type. It determines how lists compare and concatenate.
type ListType uint8

const (
	Atomic ListType = iota
	Set
	MapList
)

// A Decl is the CEL declaration of a schema node. It is immutable.
type Decl struct {
	// Kind is the declared type.
	Kind Kind
	// Schema is the node itself. A Decl made by an Interner can serve several nodes; Schema is then
	// any of them.
	Schema *schema.Structural
	// Nullable reports whether a value may be null. A null field of an object counts as absent.
	Nullable bool
	// Root is set at the root of a resource or an embedded resource.
	Root bool
	// Fields holds an object's properties by JSON name, including hidden ones. An object with Root
	// always has apiVersion, kind, and metadata, even if its schema does not declare them.
	Fields map[string]*Field
	// Elem is the declaration of a list's items or a map's values.
	Elem *Decl
	// ListType and MapKeys describe a list.
	ListType ListType
	MapKeys  []string
	// Max is the maximum size of a value: bytes of a string, items of a list, or entries of a map.
	Max Bound
	// MinSize is the minimum size of a value in JSON, in bytes.
	MinSize int64

	form    Form
	names   []string // names of Fields, sorted
	version Version
}

// Form returns the representation of values of d.
func (d *Decl) Form() Form { return d.form }

// Readable reports whether any value of d is valid.
func (d *Decl) Readable() bool { return d.form != FormInvalid }

// Version returns the Kubernetes version that d was declared for. Values and evaluation follow it.
func (d *Decl) Version() Version {
	if d.version == (Version{}) {
		return Version{Newest}
	}
	return d.version
}

// Child returns the declaration one step below d. A step is an identifier, @items, @values, or
// @keys, as in the paths of cel-go's checker. Child returns nil if nothing is declared there.
func (d *Decl) Child(step string) *Decl {
	switch step {
	case "@items", "@values":
		if d.Kind == List || d.Kind == Map {
			return d.Elem
		}
		return nil
	case "@keys":
		if d.Kind == Map {
			return mapKey
		}
		return nil
	}
	if d.Kind != Object {
		return nil
	}
	f, ok := d.ByIdent(step)
	if !ok {
		return nil
	}
	return f.Decl
}

var mapKey = &Decl{Kind: String, Max: Bound{Max: 0, Source: NoBound}}

// A Field is a property of an object.
type Field struct {
	// Name is the JSON name. Escaped is the CEL identifier, or "" if the name cannot be escaped.
	Name, Escaped string
	Required      bool
	Decl          *Decl
}

// Visible reports whether expressions can name the field.
func (f *Field) Visible() bool { return f.Escaped != "" && f.Decl.Kind != Hidden }

// A Form is the JSON representation of a node's values at run time. It can differ from Kind:
// equality reads the values of Hidden nodes, and a Map can also have declared properties.
type Form uint8

const (
	FormInvalid Form = iota // no value is valid
	FormUnknown             // kept by x-kubernetes-preserve-unknown-fields
	FormObject
	FormEmpty // an object without declared fields
	FormMap
	FormList
	FormScalar // determined by Kind
)

// A Place is the position of a schema in its resource.
type Place uint8

const (
	// ResourceRoot schemas get apiVersion, kind, metadata.name, and metadata.generateName even if
	// they do not declare them.
	ResourceRoot Place = iota
	// Subtree schemas are used unchanged.
	Subtree
)

// FromSchema declares a structural schema as the newest version does. It returns nil only if s is
// nil; the declaration of a schema that CEL cannot see is Hidden.
func FromSchema(s *schema.Structural, at Place) *Decl {
	return (&Interner{}).FromSchema(s, at)
}

func (in *Interner) declare(s *schema.Structural, root bool) *Decl {
	return in.intern(in.declareNode(s, root))
}

func (in *Interner) declareNode(s *schema.Structural, root bool) *Decl {
	d := &Decl{Schema: s, Nullable: s.Nullable, Root: root, version: in.version()}
	if s.XIntOrString {
		d.Kind, d.form, d.MinSize = IntOrString, FormScalar, 1
		d.Max = in.version().stringBound(s)
		return d
	}
	if root {
		s = in.version().withMetadata(s)
	}
	switch s.Type {
	case "object":
		in.declareObject(d, s)
	case "array":
		in.declareList(d, s)
	case "string":
		d.declareString(in.version())
	case "boolean":
		d.Kind, d.form, d.MinSize = Bool, FormScalar, kubecel.MinBoolSize
	case "number":
		d.Kind, d.form, d.MinSize = Double, FormScalar, kubecel.MinNumberSize
	case "integer":
		d.Kind, d.form, d.MinSize = Int, FormScalar, kubecel.MinNumberSize
	default:
		if s.XPreserveUnknownFields {
			d.form = FormUnknown
		}
	}
	return d
}

func (in *Interner) declareObject(d *Decl, s *schema.Structural) {
	in.declareFields(d, s)
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		elem := s.AdditionalProperties.Structural
		d.Elem = in.declare(elem, elem.XEmbeddedResource)
		d.MinSize = minContainerSize
		if d.Elem.Kind != Hidden {
			d.Kind = Map
			d.Max = mapBound(s, d.Elem)
		}
		d.form = FormMap
		if s.Properties != nil {
			d.form = FormObject // values check properties first
		}
		return
	}
	d.Kind, d.form = Object, FormObject
	if s.Properties == nil {
		d.form = FormEmpty
		if noEmptyObjects.Include(in.version().Minor) && !s.XPreserveUnknownFields {
			d.form = FormInvalid
		}
	}
	d.MinSize = minContainerSize
	for _, name := range d.names {
		f := d.Fields[name]
		if f.Required && f.Decl.Kind != Hidden && s.Properties[name].Default.Object == nil {
			// name, two quotes, a colon, and a comma
			d.MinSize += int64(len(name)) + f.Decl.MinSize + 4
		}
	}
}

func (in *Interner) declareFields(d *Decl, s *schema.Structural) {
	d.Fields = make(map[string]*Field, len(s.Properties))
	d.names = make([]string, 0, len(s.Properties))
	fields := make([]Field, len(s.Properties))
	var prop *schema.Structural
	for name := range s.Properties {
		if prop == nil {
			prop = new(schema.Structural)
		}
		*prop = s.Properties[name]
		f := &fields[len(d.names)]
		f.Name, f.Decl = name, in.declare(prop, prop.XEmbeddedResource)
		if f.Decl.Schema == prop { // prop is referenced by the new Decl; otherwise an equal Decl existed
			prop = nil
		}
		f.Escaped, _ = Escape(name)
		d.Fields[name] = f
		d.names = append(d.names, name)
	}
	if s.ValueValidation != nil {
		for _, name := range s.ValueValidation.Required {
			if f := d.Fields[name]; f != nil {
				f.Required = true
			}
		}
	}
	slices.Sort(d.names)
}

func (in *Interner) declareList(d *Decl, s *schema.Structural) {
	d.MinSize = minContainerSize
	if s.XListType != nil {
		switch *s.XListType {
		case "set":
			d.ListType = Set
		case "map":
			d.ListType, d.MapKeys = MapList, s.XListMapKeys
		}
	}
	if s.Items == nil {
		return
	}
	d.form = FormList
	d.Elem = in.declare(s.Items, s.Items.XEmbeddedResource)
	if d.Elem.Kind != Hidden {
		d.Kind = List
		d.Max = listBound(s, d.Elem)
	}
}

func (d *Decl) declareString(v Version) {
	format := ""
	if d.Schema.ValueValidation != nil {
		format = d.Schema.ValueValidation.Format
	}
	d.Kind, d.form, d.MinSize = String, FormScalar, kubecel.MinStringSize
	switch format {
	case "byte":
		d.Kind = Bytes
	case "duration":
		d.Kind, d.MinSize = Duration, kubecel.MinDurationSizeJSON
	case "date":
		d.Kind, d.MinSize = Date, kubecel.JSONDateSize
	case "date-time":
		d.Kind, d.MinSize = Timestamp, kubecel.MinDatetimeSizeJSON
	}
	d.Max = v.stringBound(d.Schema)
}

// FieldNames returns the sorted JSON names of an object's fields. The caller must not modify the
// slice.
func (d *Decl) FieldNames() []string { return d.names }

// ByIdent returns an object's visible field with the given CEL identifier.
func (d *Decl) ByIdent(ident string) (*Field, bool) {
	name, ok := Unescape(ident)
	if !ok {
		return nil, false
	}
	f, ok := d.Fields[name]
	if !ok || f.Escaped != ident || !f.Visible() {
		return nil, false
	}
	return f, true
}

var kindNames = [...]string{
	Hidden: "hidden", Object: "object", String: "string", Bytes: "bytes", Duration: "duration", Date: "date", Timestamp: "date-time",
	Bool: "boolean", Int: "integer", Double: "number", IntOrString: "int-or-string",
}

// String returns the type in schema terms, such as "list of integer".
func (d *Decl) String() string {
	switch d.Kind {
	case Map:
		return "map of " + d.Elem.String()
	case List:
		return [...]string{Atomic: "list of ", Set: "set of ", MapList: "list-map of "}[d.ListType] + d.Elem.String()
	}
	return kindNames[d.Kind]
}
