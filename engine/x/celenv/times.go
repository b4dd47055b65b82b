package celenv

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/stdlib"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// lenientTimes returns the functions that parse times and time zones as in all servers: cel-go 0.30.0 and 0.31.0 parse
// them strictly, and k8s.io/apiserver 0.38 turns that off (pkg/cel/environment/base.go, StrictTimestampParsing).
func lenientTimes() []cel.EnvOption {
	options := []cel.EnvOption{cel.Function(overloads.TypeConvertTimestamp, cel.Overload(
		overloads.StringToTimestamp, []*cel.Type{cel.StringType}, cel.TimestampType, cel.UnaryBinding(parseTime),
	))}
	zoned := []*cel.Type{cel.TimestampType, cel.StringType}
	for _, f := range stdlib.Functions() {
		for _, o := range f.OverloadDecls() {
			if o.IsMemberFunction() && slices.EqualFunc(o.ArgTypes(), zoned, (*cel.Type).IsExactType) {
				options = append(options, cel.Function(f.Name(), cel.MemberOverload(o.ID(), zoned, o.ResultType(), cel.BinaryBinding(
					func(t, zone ref.Val) ref.Val {
						there, err := inZone(t.(celtypes.Timestamp), string(zone.(celtypes.String)))
						if err != nil {
							return celtypes.NewErrFromString(err.Error())
						}
						return there.Receive(f.Name(), o.ID(), nil)
					},
				))))
			}
		}
	}
	return options
}

// The range of timestamps, in seconds of Unix time: the years 1 to 9999.
const firstSecond, lastSecond = -62_135_596_800, 253_402_300_799

func parseTime(text ref.Val) ref.Val {
	t, err := time.Parse(time.RFC3339, string(text.(celtypes.String)))
	switch {
	case err != nil:
		return celtypes.NewErr("type conversion error from '%s' to '%s'", celtypes.StringType, celtypes.TimestampType)
	case t.Unix() < firstSecond || t.Unix() > lastSecond:
		return celtypes.NewErr("timestamp overflow")
	}
	return celtypes.Timestamp{Time: t}
}

// inZone returns t in a time zone with a name, or with an offset such as -01:30. Hours and minutes can be any numbers.
func inZone(t celtypes.Timestamp, zone string) (celtypes.Timestamp, error) {
	before, after, offset := strings.Cut(zone, ":")
	if !offset {
		location, err := time.LoadLocation(zone)
		if err != nil {
			return t, err
		}
		return celtypes.Timestamp{Time: t.In(location)}, nil
	}
	hours, errHours := strconv.Atoi(before)
	minutes, errMinutes := strconv.Atoi(after)
	if strings.HasPrefix(zone, "-") {
		minutes = -minutes
	}
	east := time.Duration(hours*60+minutes) * time.Minute
	return celtypes.Timestamp{Time: t.In(time.FixedZone("", int(east.Seconds())))}, cmp.Or(errHours, errMinutes)
}
