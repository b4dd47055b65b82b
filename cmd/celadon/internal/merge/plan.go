package merge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

type plan struct {
	head     *finding.PartHead
	other    int       // reports of other runs
	sources  []*source // by name
	missing  []string
	problems []error
}

type source struct {
	name   string
	of     int
	shards map[int]*part
	unread map[string]bool // unreadable resources of a cluster that were reported
}

func read(ctx context.Context, files []string, o *Options) (*plan, error) {
	p := &plan{}
	var whole, known []*part
	for _, name := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		one, err := inspect(name)
		if one.head != nil && o.Run != "" && one.head.Run != o.Run {
			p.other++
			continue
		}
		if err != nil {
			p.problems = append(p.problems, named(name, err))
		} else {
			whole = append(whole, one)
		}
		if one.head != nil {
			known = append(known, one)
		}
	}
	sources := map[string]*source{}
	for _, one := range known { // parts that are cut off count as missing
		if s := sources[one.head.Source]; s == nil {
			sources[one.head.Source] = &source{name: one.head.Source, of: one.head.Shard.Of, shards: map[int]*part{}}
		} else if s.of != one.head.Shard.Of {
			return nil, fmt.Errorf("%s: %s, but other reports have %d shards: want the reports of one run", one.file, one.name(), s.of)
		}
	}
	for _, one := range whole {
		if err := p.add(sources[one.head.Source], one, whole[0]); err != nil {
			return nil, err
		}
	}
	p.order(sources, o.Sources)
	return p, nil
}

func named(file string, err error) error {
	if strings.HasPrefix(err.Error(), file+":") || strings.Contains(err.Error(), " "+file+":") {
		return fmt.Errorf("%w; not merged", err)
	}
	return fmt.Errorf("%s: %w; not merged", file, err)
}

func (p *plan) add(s *source, one, first *part) error {
	if why := differs(one.head, first.head); why != "" {
		return fmt.Errorf("%s and %s are not of one run: %s", first.file, one.file, why)
	}
	if p.head == nil {
		head := *first.head
		p.head = &head
	}
	if known := strings.Split(p.head.KubeVersion, ", "); !slices.Contains(known, one.head.KubeVersion) { // of another cluster
		p.head.KubeVersion = strings.Join(slices.Sorted(slices.Values(append(known, one.head.KubeVersion))), ", ")
	}
	if other := s.shards[one.head.Shard.Index]; other != nil {
		if other.whole != one.whole {
			return fmt.Errorf("%s and %s are both %s, but differ: keep one of them", other.file, one.file, one.name())
		}
		p.problems = append(p.problems, fmt.Errorf("%s and %s are both %s: the first is used", other.file, one.file, one.name()))
		return nil
	}
	for _, other := range s.shards { // any of them, because they agree
		if why := disagrees(one, other); why != "" {
			return fmt.Errorf("%s and %s are not of one run: %s", other.file, one.file, why)
		}
		break
	}
	s.shards[one.head.Shard.Index] = one
	return nil
}

func differs(a, b *finding.PartHead) string {
	switch {
	case a.Run != b.Run:
		return fmt.Sprintf("one has --run %q, the other %q: choose one with celadon merge --run", b.Run, a.Run)
	case a.Sources != b.Sources:
		return fmt.Sprintf("one has --sources %d, the other %d", b.Sources, a.Sources)
	case a.Version != b.Version:
		return fmt.Sprintf("one was written by celadon %s, the other by %s", b.Version, a.Version)
	case !slices.Equal(a.Flags, b.Flags):
		return fmt.Sprintf("one has %q, the other %q", b.Flags, a.Flags)
	}
	return ""
}

func disagrees(a, b *part) string {
	switch {
	case a.head.KubeVersion != b.head.KubeVersion:
		return fmt.Sprintf("one has --kube-version %s, the other %s", b.head.KubeVersion, a.head.KubeVersion)
	case a.head.Live != b.head.Live:
		return "only one is of a cluster"
	case a.head.CRDs != b.head.CRDs || a.crds != b.crds:
		return "their CRDs differ"
	case a.head.Live:
		return "" // the cluster may have changed
	case a.documents != b.documents:
		return fmt.Sprintf("one read %d documents, the other %d", b.documents, a.documents)
	case a.input != b.input:
		return "they read different documents, or in a different order"
	}
	return ""
}

// maxMissing limits the missing parts that are named.
const maxMissing = 100

func (p *plan) order(sources map[string]*source, wanted []string) {
	withoutName := 0
	miss := func(text string) {
		if len(p.missing) < maxMissing {
			p.missing = append(p.missing, text)
		} else {
			withoutName++
		}
	}
	for _, name := range wanted {
		if sources[name] == nil {
			sources[name] = &source{name: name, of: 1}
		}
	}
	if p.head != nil && len(sources) < p.head.Sources {
		if prefix, ok := counted(sources); ok {
			for i := range p.head.Sources {
				if name := prefix + strconv.Itoa(i); sources[name] == nil {
					sources[name] = &source{name: name, of: 1}
				}
			}
		} else {
			miss(fmt.Sprintf("%d of %d sources", p.head.Sources-len(sources), p.head.Sources))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		s := sources[name]
		for i := range s.of {
			if s.shards[i] == nil {
				miss(partName(name, finding.Shard{Index: i, Of: s.of}))
			}
		}
		if len(s.shards) > 0 {
			p.sources = append(p.sources, s)
		}
	}
	if withoutName > 0 {
		p.missing = append(p.missing, phrase.Count(withoutName, "other part"))
	}
}

// counted returns the common prefix of all source names if they end in numbers, such as cluster-0 and
// cluster-1.
func counted(sources map[string]*source) (prefix string, ok bool) {
	for name := range sources {
		before := strings.TrimRight(name, "0123456789")
		n, err := strconv.Atoi(name[len(before):])
		if err != nil || strconv.Itoa(n) != name[len(before):] || ok && before != prefix {
			return "", false
		}
		prefix, ok = before, true
	}
	return prefix, ok
}

func (s *source) parts() []*part {
	var parts []*part
	for _, i := range slices.Sorted(maps.Keys(s.shards)) {
		parts = append(parts, s.shards[i])
	}
	return parts
}
