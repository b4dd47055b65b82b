package types

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/internal/minors"
)

const (
	// Newest is the newest released Kubernetes minor version that Celadon supports, and the default.
	Newest = minors.Newest
	// Last is the newest minor version that Celadon supports. It is Newest or a preview.
	Last = minors.Last
	// Oldest is the oldest Kubernetes minor version that Celadon supports.
	Oldest = minors.Oldest
)

// A Version is the Kubernetes minor version 1.Minor.
type Version struct{ Minor int }

func (v Version) String() string { return fmt.Sprintf("1.%d", v.Minor) }

// Preview reports whether Kubernetes has not released v yet, so that it can still change.
func (v Version) Preview() bool { return v.Minor > Newest }

// ParseVersion parses a version such as "1.33" or "v1.33.4". It returns Newest for "".
func ParseVersion(s string) (Version, error) {
	if s == "" {
		return Version{Newest}, nil
	}
	major, rest, _ := strings.Cut(strings.TrimPrefix(s, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	n, err := strconv.Atoi(minor)
	if err != nil || major != "1" || n < Oldest || n > Last {
		return Version{}, fmt.Errorf("kubernetes version %q is not supported: want 1.%d to 1.%d", s, Oldest, Last)
	}
	return Version{n}, nil
}

// Versions returns all supported versions, oldest first.
func Versions() (all []Version) {
	for minor := Oldest; minor <= Last; minor++ {
		all = append(all, Version{minor})
	}
	return all
}

// Released returns the supported versions that Kubernetes has released, oldest first.
func Released() []Version { return Versions()[:Newest-Oldest+1] }

// ParseVersions parses a list of versions and ranges, such as "1.30,1.33-1.35" or "all". It returns
// the versions oldest first. A version that occurs twice is an error.
func ParseVersions(s string) ([]Version, error) {
	if s == "all" {
		return Versions(), nil
	}
	var list []Version
	for part := range strings.SplitSeq(s, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if first == "" || isRange && last == "" {
			return nil, fmt.Errorf("kubernetes versions %q: want a list of versions and ranges of 1.%d to 1.%d, such as 1.33,1.35-1.37, or all", s, Oldest, Last)
		}
		from, err := ParseVersion(first)
		if err != nil {
			return nil, err
		}
		to := from
		if isRange {
			if to, err = ParseVersion(last); err != nil {
				return nil, err
			}
		}
		if to.Minor < from.Minor {
			return nil, fmt.Errorf("kubernetes versions %q: the range ends before it begins: want the older version first, of 1.%d to 1.%d", part, Oldest, Last)
		}
		for minor := from.Minor; minor <= to.Minor; minor++ {
			if slices.Contains(list, Version{minor}) {
				return nil, fmt.Errorf("kubernetes versions %q: 1.%d occurs twice: want each of 1.%d to 1.%d at most once", s, minor, Oldest, Last)
			}
			list = append(list, Version{minor})
		}
	}
	slices.SortFunc(list, func(a, b Version) int { return a.Minor - b.Minor })
	return list, nil
}

// Versions that are not in the range of a field drop it silently.
var fieldMinors = map[string]minors.Range{
	"optionalOldSelf": minors.Since(30), // apiextensions-apiserver, feature gate CRDValidationRatcheting
}

// FieldSince returns the first supported minor version whose servers keep the given field of a rule.
func FieldSince(field string) int { return max(fieldMinors[field].Since, Oldest) }
