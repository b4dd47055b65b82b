package types

import (
	"encoding/binary"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// An Interner declares schemas so that nodes with equal declarations share one Decl, also across
// the versions of a CRD. Results compiled for a node can then be reused for the others. An Interner
// is not safe for concurrent use. The zero value does not share Decls.
type Interner struct {
	// Version is the Kubernetes version whose bounds Decls have; the zero value is the newest.
	Version Version

	decls map[string]*Decl // nil: do not share
	ids   map[*Decl]uint64
	key   []byte // buffer for fingerprint
}

// NewInterner returns an Interner for the newest version.
func NewInterner() *Interner {
	return &Interner{decls: map[string]*Decl{}, ids: map[*Decl]uint64{}}
}

// FromSchema declares s as in.Version does, and shares equal declarations. It returns nil only if s
// is nil.
func (in *Interner) FromSchema(s *schema.Structural, at Place) *Decl {
	if s == nil {
		return nil
	}
	return in.declare(s, at == ResourceRoot)
}

func (in *Interner) version() Version {
	if in.Version == (Version{}) {
		return Version{Newest}
	}
	return in.Version
}

func (in *Interner) intern(d *Decl) *Decl {
	if in.decls == nil {
		return d
	}
	in.key = in.fingerprint(in.key[:0], d)
	if known := in.decls[string(in.key)]; known != nil {
		return known
	}
	in.decls[string(in.key)] = d
	in.ids[d] = uint64(len(in.ids) + 1)
	return d
}

// fingerprint appends the identity of d to b. Two Decls have equal fingerprints only if the checker, estimates, and
// values cannot distinguish them. The children of d must be interned already.
func (in *Interner) fingerprint(b []byte, d *Decl) []byte {
	b = append(b, byte(d.Kind), byte(d.form), byte(d.ListType), flags(d.Nullable, d.Root, d.Schema.XPreserveUnknownFields), byte(d.Max.Source))
	b = binary.AppendVarint(b, d.Max.Max)
	b = binary.AppendVarint(b, d.MinSize)
	b = binary.AppendUvarint(b, in.ids[d.Elem])
	b = appendText(appendText(appendText(b, d.Schema.Type), textOrEmpty(d.Schema.XListType)), textOrEmpty(d.Schema.XMapType))
	for _, key := range d.MapKeys {
		b = appendText(b, key)
	}
	for _, name := range d.names {
		f := d.Fields[name]
		b = append(appendText(b, name), flags(f.Required))
		b = binary.AppendUvarint(b, in.ids[f.Decl])
	}
	return b
}

func flags(set ...bool) (b byte) {
	for i, s := range set {
		if s {
			b |= 1 << i
		}
	}
	return b
}

func textOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
