// Package notation recognizes strings that represent another value, such as a quantity or a
// version, and compares the values that they represent.
package notation

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/blang/semver/v4"
	"k8s.io/apimachinery/pkg/api/resource"
)

// A Kind is the kind of value that a string represents.
type Kind uint8

const (
	None Kind = iota
	Quantity
	Duration
	Version
	Timestamp
	Address
	Range // of IP addresses, in CIDR notation
	Integer
)

// Kinds returns all kinds except None.
func Kinds() []Kind {
	return []Kind{Quantity, Duration, Version, Timestamp, Address, Range, Integer}
}

// String returns a plural noun for values of the kind, such as "IP addresses", or "text" for None.
func (k Kind) String() string {
	return [...]string{"text", "quantities", "durations", "versions", "timestamps", "IP addresses", "CIDR ranges", "numbers"}[k]
}

const maxLength = 64

var (
	digits    = regexp.MustCompile(`^[-+]?[0-9]+$`)
	dotted    = regexp.MustCompile(`^v?[0-9]+(\.[0-9]+){1,2}([-+][0-9A-Za-z.+-]*)?$`)
	threePart = regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+`)
	unit      = regexp.MustCompile(`^[-+]?[0-9.]+([numkKMGTPE]|[KMGTPE]i)$`)
)

// Is reports whether text is written as a value of kind k. Digits without a unit are an integer, not
// a quantity.
func (k Kind) Is(text string) bool {
	if len(text) > maxLength {
		return false
	}
	switch k {
	case Quantity:
		return unit.MatchString(text) && k.Parses(text)
	case Duration:
		return !digits.MatchString(text) && k.Parses(text)
	case Version:
		return dotted.MatchString(text) && k.Parses(text)
	}
	return k.Parses(text)
}

// Parses reports whether text represents a value of kind k.
func (k Kind) Parses(text string) bool {
	_, ok := k.Compare(text, text)
	return ok
}

// Compare compares the values of two strings. ok is false unless both represent values of kind k and are short.
func (k Kind) Compare(a, b string) (order int, ok bool) {
	if len(a) > maxLength || len(b) > maxLength {
		return 0, false
	}
	switch k {
	case Quantity:
		return compared(a, b, resource.ParseQuantity, func(x, y resource.Quantity) int { return x.Cmp(y) })
	case Duration:
		return compared(a, b, time.ParseDuration, cmp.Compare[time.Duration])
	case Version:
		return compared(a, b, parseVersion, semver.Version.Compare)
	case Timestamp:
		parse := func(text string) (time.Time, error) { return time.Parse(time.RFC3339, text) }
		return compared(a, b, parse, time.Time.Compare)
	case Address:
		return compared(a, b, netip.ParseAddr, netip.Addr.Compare)
	case Range:
		return compared(a, b, netip.ParsePrefix, func(x, y netip.Prefix) int {
			return cmp.Or(x.Addr().Compare(y.Addr()), cmp.Compare(x.Bits(), y.Bits()))
		})
	case Integer:
		if digits.MatchString(a) && digits.MatchString(b) {
			return compared(a, b, resource.ParseQuantity, func(x, y resource.Quantity) int { return x.Cmp(y) })
		}
	}
	return 0, false
}

// parseVersion parses a version like semver(text, true), but does not accept leading zeros.
func parseVersion(text string) (semver.Version, error) {
	text = strings.TrimPrefix(text, "v")
	for range 2 {
		if end := strings.IndexAny(text, "-+"); !threePart.MatchString(text) && end < 0 {
			text += ".0"
		}
	}
	return semver.Parse(text)
}

func compared[T any](a, b string, parse func(string) (T, error), compare func(T, T) int) (int, bool) {
	x, err := parse(a)
	y, err2 := parse(b)
	if err != nil || err2 != nil {
		return 0, false
	}
	return compare(x, y), true
}

// Samples returns strings of kind k, including strings whose text is ordered differently from their values.
func (k Kind) Samples() []string {
	switch k {
	case Quantity:
		return []string{"10Gi", "9Gi", "1Gi", "1024Mi", "100Gi", "5Gi", "500Mi", "1000m", "1", "500m", "0.5", "10", "9", "2", "1k", "1000", "0", "0Gi", "1024", "1Ki"}
	case Duration:
		return []string{"10m", "9m", "1m", "60s", "1h", "60m", "30s", "5m", "90s", "1m30s", "10s", "9s", "100ms", "0s", "0m", "100s", "24h", "1440m"}
	case Version:
		return []string{"1.10.0", "1.9.0", "v1.10.0", "v1.9.0", "1.10", "1.9", "v1.10", "v1.9", "10.0.0", "9.0.0", "10.0", "9.0", "2.10.0", "2.9.0"}
	case Timestamp:
		return []string{"2024-01-01T10:00:00+02:00", "2024-01-01T09:00:00Z", "2024-01-01T08:00:00Z", "2034-01-01T00:00:00+02:00", "2033-12-31T23:00:00Z"}
	case Address:
		return []string{"10.0.0.1", "9.0.0.1", "192.168.10.1", "192.168.9.1"}
	case Range:
		return []string{"10.0.0.0/8", "9.0.0.0/8", "192.168.10.0/24", "192.168.9.0/24"}
	case Integer:
		return []string{"10", "9", "100", "1", "01", "010"}
	}
	return nil
}

// Spellings returns strings with the value of text, which may include text itself. It returns nil
// for kinds other than Quantity and Duration.
func (k Kind) Spellings(text string) (list []string) {
	switch k {
	case Quantity:
		q, err := resource.ParseQuantity(text)
		if err != nil || len(text) > maxLength {
			return nil
		}
		n := q.Value()
		if q.Cmp(*resource.NewQuantity(n, resource.DecimalSI)) != 0 { // not a whole number
			list = []string{fmt.Sprintf("%dm", q.MilliValue()), q.AsDec().String()}
			break
		}
		for _, u := range []string{"", "Ki", "Mi", "Gi"} {
			list = append(list, fmt.Sprintf("%d%s", n, u))
			if n%1024 != 0 {
				break
			}
			n /= 1024
		}
		list = append(list, fmt.Sprintf("%dm", q.MilliValue()))
	case Duration:
		d, err := time.ParseDuration(text)
		if err != nil || len(text) > maxLength {
			return nil
		}
		for _, u := range []struct {
			length time.Duration
			name   string
		}{{time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
			if d%u.length == 0 {
				list = append(list, fmt.Sprintf("%d%s", d/u.length, u.name))
			}
		}
	}
	// Some quantities are not whole numbers of thousandths, or are too large to be counted in them.
	return slices.DeleteFunc(list, func(spelling string) bool {
		order, ok := k.Compare(spelling, text)
		return !ok || order != 0
	})
}
