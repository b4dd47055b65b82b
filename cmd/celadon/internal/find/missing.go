package find

import (
	"errors"
	"fmt"
	"slices"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// selectable holds the versions and rules that can be selected.
type selectable struct {
	versions []string
	rules    []engine.RuleRef // of the selected versions
}

func (k *selectable) add(more *selectable) {
	k.versions = append(k.versions, more.versions...)
	k.rules = append(k.rules, more.rules...)
}

// nothing returns an error that explains why the options select nothing.
func (o *Options) nothing(k *selectable) error {
	if o.Version != "" && !slices.Contains(k.versions, o.Version) {
		return fmt.Errorf("--version %q: no such version%s", o.Version, offer(o.Version, k.versions))
	}
	if len(k.rules) == 0 && o.Version != "" {
		return fmt.Errorf("--version %q: it has no rules: use --minimal or --full for a sample", o.Version)
	}
	if len(k.rules) == 0 {
		return errors.New("no CRD has rules: use --minimal or --full for a sample")
	}
	var paths []string
	there := 0
	for _, r := range k.rules {
		paths = append(paths, r.Path)
		if r.Path == o.At {
			there = max(there, r.Index+1)
		}
	}
	if there > 0 {
		return fmt.Errorf("--rule %d: no such rule: want less than %d (%s at %s)", o.Rule, there, phrase.Count(there, "rule"), phrase.Path(o.At))
	}
	return fmt.Errorf("--at %q: no rule at this path%s", o.At, offer(o.At, paths))
}

// offer returns a suffix for an error message that suggests similar names.
func offer(word string, names []string) string {
	return string(untrusted.Line(spell.SuggestOrList(word, names)))
}
