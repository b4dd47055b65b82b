package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/x/analysis"
	"github.com/celadon-cel/celadon/x/analysis/search"
)

// fact adds a change whose effect is known without a search. It returns nil if old and new are equal.
func (c *comparison) fact(field, subject, old, new string, effect Effect, why string) *change {
	if old == new {
		return nil
	}
	ch := &change{CRDChange: CRDChange{Subject: subject, Old: old, New: new, OldField: field, NewField: field, Effect: effect, By: ByProof, Proof: why}}
	c.changes = append(c.changes, ch)
	return ch
}

func (c *comparison) compareCRDFields() {
	o, n := &c.before.crd.Spec, &c.after.crd.Spec
	const notFound = "clients of the old one get 404"
	c.fact("spec.group", "group", o.Group, n.Group, Breaking, notFound)
	c.fact("spec.scope", "scope", string(o.Scope), string(n.Scope), Breaking, "the API paths and names of all objects change")
	for _, name := range []struct{ field, old, new string }{
		{"kind", o.Names.Kind, n.Names.Kind}, {"plural", o.Names.Plural, n.Names.Plural},
		{"singular", cmp.Or(o.Names.Singular, strings.ToLower(o.Names.Kind)), cmp.Or(n.Names.Singular, strings.ToLower(n.Names.Kind))},
		{"listKind", cmp.Or(o.Names.ListKind, o.Names.Kind+"List"), cmp.Or(n.Names.ListKind, n.Names.Kind+"List")},
	} {
		c.fact("spec.names."+name.field, "names", name.old, name.new, Breaking, notFound)
	}
	for _, list := range []struct {
		field    string
		old, new []string
	}{{"shortNames", o.Names.ShortNames, n.Names.ShortNames}, {"categories", o.Names.Categories, n.Names.Categories}} {
		old, new, effect := nameSets(list.old, list.new)
		c.fact("spec.names."+list.field, "names", old, new, effect, "users type these names")
	}
	before, after := conversion(o.Conversion), conversion(n.Conversion)
	if ch := c.fact("spec.conversion.strategy", "conversion", before, after, Unknown, ""); ch != nil {
		ch.By, ch.Reason = BySearch, "the effect of a webhook on objects is unknown"
	}
	if o.PreserveUnknownFields != n.PreserveUnknownFields {
		effect := Breaking
		if n.PreserveUnknownFields {
			effect = Loosening
		}
		before, after := pruning[o.PreserveUnknownFields], pruning[n.PreserveUnknownFields]
		c.fact("spec.preserveUnknownFields", "pruning", before, after, effect, "in every object with unknown fields")
	}
}

func nameSets(old, new []string) (before, after string, effect Effect) {
	old, new, effect = sortedSet(old), sortedSet(new), Loosening
	if slices.ContainsFunc(old, func(name string) bool { return !slices.Contains(new, name) }) {
		effect = Breaking
	}
	return strings.Join(old, ", "), strings.Join(new, ", "), effect
}

func conversion(of *apiextensionsv1.CustomResourceConversion) string {
	if of == nil || of.Strategy == "" {
		return string(apiextensionsv1.NoneConverter)
	}
	return string(of.Strategy)
}

// versions compares versions by name. A new served version is compared with the old storage version if objects are
// converted by strategy None.
func (c *comparison) versions() error {
	for i := range c.before.crd.Spec.Versions {
		if old := c.before.at(i); c.after.named(old.version.Name) == nil {
			c.removedVersion(old)
		}
	}
	for i := range c.after.crd.Spec.Versions {
		now := c.after.at(i)
		old := c.before.named(now.version.Name)
		if old == nil {
			c.newVersion(now)
		} else {
			c.version(old, now)
			c.pair(old, now)
			c.upgrade(old, now)
		}
		if err := c.full(); err != nil {
			return err
		}
	}
	c.stored()
	return nil
}

func (c *comparison) newVersion(now *side) {
	effect := Loosening
	if !now.version.Served {
		effect = Equivalent
	}
	ch := c.fact(now.field(""), "version", "", served(now), effect, "it is new, so nothing uses it")
	ch.Version, ch.OldField = now.version.Name, "spec.versions"
	if conversion(c.after.crd.Spec.Conversion) == string(apiextensionsv1.NoneConverter) && now.version.Served {
		c.pair(c.before.storage(), now)
	}
}

// The limits of a comparison. Each new version can have as many changes as the old CRD has fields, and each
// change has the names of all fields above it.
const (
	maxChanges = 20_000
	maxBytes   = 256 << 20 // of visited paths and of changes
	keptBytes  = 8         // the weight of a byte in a change
)

func (c *comparison) full() error {
	switch {
	case len(c.changes) > maxChanges:
		return fmt.Errorf("more than %d changes: compare fewer versions at once", maxChanges)
	case c.bytes > maxBytes:
		return errors.New("the names of fields are too long, or there are too many")
	}
	return nil
}

func (s *side) at(i int) *side {
	return &side{crd: s.crd, engine: s.engine, version: &s.crd.Spec.Versions[i], index: i, size: s.size, kubeVersion: s.kubeVersion}
}

func (s *side) named(name string) *side {
	i := slices.IndexFunc(s.crd.Spec.Versions, func(v crdVersion) bool { return v.Name == name })
	if i < 0 {
		return nil
	}
	return s.at(i)
}

func (s *side) storage() *side {
	return s.at(max(0, slices.IndexFunc(s.crd.Spec.Versions, func(v crdVersion) bool { return v.Storage })))
}

const schemaField = ".schema.openAPIV3Schema"

func (s *side) field(below string) string { return fmt.Sprintf("spec.versions[%d]%s", s.index, below) }

func served(s *side) string {
	if s.version.Served {
		return "served"
	}
	return "not served"
}

func (c *comparison) removedVersion(old *side) {
	effect, why := Breaking, "its clients get 404"
	stored, some := c.before.crd.Status.StoredVersions, ""
	switch {
	case old.version.Served:
	case len(stored) == 0, slices.Contains(stored, old.version.Name):
		some = "clusters that have stored objects of " + old.version.Name
		why = "the API server rejects the CRD while status.storedVersions has the version"
	default:
		effect, why = Equivalent, "it was not served, and status.storedVersions does not have it"
	}
	ch := c.fact(old.field(""), "version", served(old), "", effect, why)
	ch.Clusters = some
	ch.Version, ch.OldVersion, ch.NewField = old.version.Name, old.version.Name, "spec.versions"
	c.sample(ch, old)
}

func (c *comparison) sample(ch *change, old *side) {
	if ch.Effect != Breaking || ch.Clusters != "" {
		return
	}
	a, err := analysis.New(old.crd, old.engine, old.version.Name, analysis.Config{Steps: c.cfg.Steps, Seed: c.cfg.Seed})
	if err != nil {
		return
	}
	m := c.newRun(1, 1)
	defer c.addWork(m)
	a.Charge(m)
	if found, err := a.Sample(c.ctx, false); err == nil && found.Witness != nil {
		ch.By, ch.Searched = ByWitness, found.Searched
		ch.Rejected = &Witness{Operation: search.Create, Object: found.Witness.Object, Create: Rejected, ChangedUpdate: Rejected, UnchangedUpdate: Rejected}
	}
}

func (c *comparison) version(old, now *side) {
	o, n := old.version, now.version
	add := func(field, subject, before, after string, effect Effect, why string) *change {
		if !o.Served && !n.Served {
			effect, why = Equivalent, unserved
		}
		ch := c.fact("", subject, before, after, effect, why)
		if ch != nil {
			ch.Version, ch.OldVersion = n.Name, o.Name
			ch.OldField, ch.NewField = old.field(field), now.field(field)
		}
		return ch
	}
	effect, why := Breaking, "its clients get 404"
	if n.Served {
		effect, why = Loosening, "it is new, so nothing uses it"
	}
	if ch := add(".served", "version", served(old), served(now), effect, why); ch != nil {
		c.sample(ch, old)
	}
	add(".deprecated", "version", deprecated(o), deprecated(n), Equivalent, "the server only warns")
	add(".additionalPrinterColumns", "columns", compact(o.AdditionalPrinterColumns), compact(n.AdditionalPrinterColumns), Equivalent, "it affects only the output of kubectl")
	fields := func(v *crdVersion) (paths []string) {
		for _, f := range v.SelectableFields {
			paths = append(paths, f.JSONPath)
		}
		return paths
	}
	before, after, effect := nameSets(fields(o), fields(n))
	add(".selectableFields", "selectable fields", before, after, effect, "clients use them in field selectors")
	was, is := subresources(o), subresources(n)
	status := map[bool]string{true: "status"}
	if why = "writes of status to the object itself are dropped"; was.Status != nil {
		why = "writes to /status get 404"
	}
	add(".subresources.status", "subresource", status[was.Status != nil], status[is.Status != nil], Breaking, why)
	if effect = Breaking; was.Scale == nil {
		effect = Loosening
	}
	add(".subresources.scale", "subresource", compact(was.Scale), compact(is.Scale), effect, "clients of /scale read other values")
}

func subresources(v *crdVersion) *apiextensionsv1.CustomResourceSubresources {
	return cmp.Or(v.Subresources, &apiextensionsv1.CustomResourceSubresources{})
}

const unserved = "the version is not served"

func deprecated(v *crdVersion) string {
	switch {
	case !v.Deprecated:
		return ""
	case v.DeprecationWarning != nil:
		return "deprecated: " + *v.DeprecationWarning
	}
	return "deprecated"
}

// stored adds a change for a new storage version. If the old one is still served and objects are converted by
// strategy None, it also adds changes for the fields that are lost.
func (c *comparison) stored() {
	was, is := c.before.storage(), c.after.storage()
	if was.version.Name == is.version.Name {
		return
	}
	ch := c.fact(is.field(".storage"), "storage", was.version.Name, is.version.Name, Equivalent, "both versions store the same values")
	ch.OldField = was.field(".storage")
	converts := conversion(c.after.crd.Spec.Conversion) != string(apiextensionsv1.NoneConverter)
	if o, n := was.schema(), is.schema(); converts || o == nil || n == nil || !sameValues(o, n) {
		ch.Effect, ch.By, ch.Proof, ch.Reason = Unknown, BySearch, "", "the new storage version has other fields, types, or defaults; lost fields are listed separately"
		if converts {
			ch.Reason = "the effect of a webhook on objects is unknown"
		}
	}
	same := c.after.named(was.version.Name)
	if same == nil || !same.version.Served || converts {
		return
	}
	if o, n := was.schema(), is.schema(); o != nil && n != nil {
		(&walker{c, was, same}).notStored(schemaPath{nil, was.field(schemaField), is.field(schemaField)}, o, n)
	}
}

func (w *walker) notStored(at schemaPath, o, n *props) {
	if preserves(n) {
		return
	}
	for _, name := range sortedKeys(o.Properties) {
		before, below := o.Properties[name], at.field(name)
		after, ok := n.Properties[name]
		switch {
		case ok:
			w.notStored(below, &before, &after)
		case valuesOf(n) == nil && name != "metadata":
			ch := w.add(below, "", "storage", "kept", "lost: the storage version has no such field", w.present(below, &before, nil), nil)
			ch.NewField = upper(ch.NewField)
		}
	}
	if o.Items != nil && n.Items != nil && o.Items.Schema != nil && n.Items.Schema != nil {
		w.notStored(at.any(".items"), o.Items.Schema, n.Items.Schema)
	}
	if before, after := valuesOf(o), valuesOf(n); before != nil && after != nil {
		w.notStored(at.any(".additionalProperties"), before, after)
	}
}
