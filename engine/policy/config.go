package policy

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// Config configures a Set. The zero value behaves like the API server of the newest Kubernetes
// version that this build supports.
type Config struct {
	// KubeVersion is the Kubernetes minor to emulate, such as "1.33". If it is empty, the newest
	// supported minor is used.
	KubeVersion string
	// Limits overrides the API server's cost limits: PerCall, and PerObject as the budget of one
	// policy with one binding and one params object. Zero fields keep the server's limits.
	Limits cost.Limits
	// MatchConditions overrides the budget of the matchConditions of a policy or webhook. Zero keeps
	// the server's.
	MatchConditions int64
	// New compiles expressions as the server does when a policy is new or changed: with the CEL
	// features of the previous minor. By default they are compiled as in a stored policy.
	New bool
	// Complete is set if the params objects among the documents are all that exist. A params object
	// that is missing then has the effect that parameterNotFoundAction defines. Otherwise, the
	// result is undecided.
	Complete bool
	// Namespaced holds the scope of custom kinds: whether each is namespaced. CRDs among the documents define
	// it as well. Without either, the scope of a paramKind is guessed from its params objects.
	Namespaced map[schema.GroupKind]bool
	// Authorize returns the results of authorizer checks in expressions. If it is nil, the Roles, ClusterRoles, and
	// their bindings among the documents determine them; the groups system:masters and kubeadm:cluster-admins may do
	// anything. Without any of these objects, results that depend on other users' access are undecided.
	Authorize func(Access) Authorization
}

// settings are the parts of a Config that compiling uses, with defaults.
type settings struct {
	version         types.Version
	env             *celenv.Env
	perCall, budget int64
	matchBudget     int64
	complete        bool
	isNew           bool // Config.New
}

func settingsOf(cfg Config) (settings, error) {
	v, err := types.ParseVersion(cfg.KubeVersion)
	if err != nil {
		return settings{}, err
	}
	limits := cfg.Limits.WithDefaults()
	s := settings{version: v, env: celenv.StoredRules(v), perCall: limits.PerCall, budget: limits.PerObject, matchBudget: cfg.MatchConditions, complete: cfg.Complete, isNew: cfg.New}
	if cfg.New {
		s.env = celenv.NewRules(v)
	}
	if s.matchBudget == 0 {
		s.matchBudget = celconfig.RuntimeCELCostBudgetMatchConditions
	}
	return s, nil
}
