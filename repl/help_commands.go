package repl

import (
	"fmt"
	"maps"

	"github.com/celadon-cel/celadon/types"
)

// commandDetails returns the details of each command.
func commandDetails() map[string]details {
	all := map[string]details{}
	for _, part := range []map[string]details{lookDetails(), objectDetails(), manyDetails(), ruleDetails(), partDetails(), crdDetails(), sessionDetails()} {
		maps.Copy(all, part)
	}
	return all
}

// fixed returns examples that do not depend on the session.
func fixed(all ...string) func(*samples) []string {
	return func(*samples) []string { return all }
}

func lookDetails() map[string]details {
	return map[string]details{
		"load": {
			"Loads a file. The shell finds out whether it holds a CRD, an object, or admission policies; write crd, object, old, or policy to choose. If a file holds several objects of the CRD's kind, select one with --name NAME.",
			[]need{needFiles, needOwnFiles}, func(p *samples) []string { return p.loads() },
		},
		"use": {
			"Switches to a version of the CRD. Expressions and rules then see the schema of that version. Each version has its own rules.",
			[]need{needCRD}, func(p *samples) []string {
				return []string{":use " + p.versionsToUse()[len(p.versionsToUse())-1], ":pwd"}
			},
		},
		"kube": {
			"Sets the Kubernetes version that rules are written for. Expressions can then use only the functions that API servers of this version accept in new rules. The shell prints the rules of the CRD that this version rejects.",
			nil, fixed(":kube", fmt.Sprintf(":kube 1.%d", types.Newest-2)),
		},
		"cd": {
			"Moves to a path in the schema, so that self is the value at this path. Paths are relative to the current path; .. is the parent, / is the root, and [*] is the first item of a list or the first value of a map.",
			[]need{needCRD}, func(p *samples) []string { return []string{":cd " + p.parent(), ":cd /"} },
		},
		"ls": {
			"Lists the fields at a path with their types, whether they are required, the number of their rules, and their bounds. Without PATH, it lists the fields at the current path.",
			[]need{needCRD}, func(p *samples) []string { return []string{":ls", ":ls " + p.parent()} },
		},
		"pwd": {
			"Prints the kind, the version, and the current path, with the type and the bounds of the value there. self has this type in expressions and rules.",
			[]need{needCRD}, fixed(":pwd", ":cd /"),
		},
		"show": {
			"Prints the object, or its value at a path, as YAML. The object is shown as rules see it: with defaults, and without fields that the schema does not declare.",
			[]need{needCRD, needObject, needSelf}, func(p *samples) []string {
				if p.value != nil && p.path != "" {
					return []string{":show", ":show " + p.path}
				}
				return []string{":show"}
			},
		},
		"type": {
			"Prints the type of an expression in the words of a schema, and in those of CEL if they differ. The expression is not evaluated, so no object is necessary.",
			[]need{needVisible}, func(p *samples) []string { return []string{":type " + p.typed(), ":type [1, 2].map(x, x * 2)"} },
		},
		"cost": {
			"Prints the API server's cost estimate for an expression, and its share of the limit for a rule at the current path. Below, it lists the lists, maps, and strings without a bound that the estimate depends on: a bound in the schema lowers it.",
			[]need{needVisible}, func(p *samples) []string { return []string{":cost " + p.estimated(), ":cost [1, 2].all(x, x > 0)"} },
		},
		"explain": {
			"Evaluates an expression and prints the value and the cost of every part. Parts of macros show the last element that was evaluated.",
			[]need{needVisible}, func(p *samples) []string {
				return []string{":explain " + p.test(), ":explain 'a-b'.split('-').size() == 2"}
			},
		},
		"funcs": {
			"Lists the functions, macros, and operators of the Kubernetes version in groups. With the name of a function, it explains the function; with the name of a group, it lists the forms of the functions in the group; with any other word, it searches names and descriptions.",
			nil, func(p *samples) []string { return []string{":funcs " + p.library(), ":funcs lowercase"} },
		},
	}
}

func objectDetails() map[string]details {
	return map[string]details{
		"set": {
			"Changes a value of the object and creates missing parents. The value is JSON, so strings need double quotes. Without a value, it opens the object or the value at PATH in $EDITOR, if that is set. With the name of a setting instead of a path, it changes or prints the setting: preview, color, keys, or width.",
			[]need{needCRD, needObject, needField}, func(p *samples) []string {
				return []string{fmt.Sprintf(":set %s = %s", p.fieldPath(), p.json()), ":set width auto"}
			},
		},
		"unset": {
			"Removes a value from the object. Use it to see how rules treat an absent field. :undo restores the value.",
			[]need{needCRD, needObject, {func(s *Session) bool { return newSamples(s).raw != nil }, "The object has no value here: run :set first."}},
			func(p *samples) []string { return []string{":unset " + p.fieldPath(), ":undo"} },
		},
		"old": {
			"Prints or changes the old object, which transition rules see as oldSelf. copy makes the object the old object; after a change of the object, the rules then see an update. none removes the old object.",
			[]need{needCRD, needObject}, func(p *samples) []string {
				if p.path == "" {
					return []string{":old copy", ":old none"}
				}
				return []string{":old copy", fmt.Sprintf(":old set %s = %s", p.path, p.json())}
			},
		},
		"as": {
			"Sets whether a write of the object or of its status is evaluated, or prints which. A write of the object does not change the status of a CRD with the status subresource.",
			[]need{needCRD}, func(p *samples) []string {
				if st := p.session.state; st.crd != nil && !st.crd.hasStatus(st.version) {
					return []string{":as", ":as object"}
				}
				return []string{":as status", ":as object"}
			},
		},
		"check": {
			"Validates the object, and its old version if one is loaded, like celadon check: schema, rules, defaults, and metadata. It prints the message that kubectl would print.",
			[]need{needCRD, needObject, needCheck}, fixed(":check", ":rules"),
		},
		"policy": {
			"Prints what the loaded admission policies decide about a write of the object, or with delete about its deletion. With the name of a policy, expressions have the variables of the policy, such as object, params, and variables; - goes back to the rules of the CRD.",
			[]need{needCRD, needObject, needPolicies}, fixed(":policy delete", ":policy -"),
		},
		"persisted": {
			"Prints the object as the API server would store it, or with diff, how that differs from the object: defaults, and fields that the schema does not declare. Values with format password are removed.",
			[]need{needCRD, needObject, needAccepted}, fixed(":persisted", ":persisted diff"),
		},
	}
}

func ruleDetails() map[string]details {
	return map[string]details{
		"rules": {
			"Lists the rules at the current path, or if it has none, the rules below it; with all, the rules of the whole version. For each rule, it prints the result for the object, the cost, the API server's estimate, and the share of the limit. If many objects are loaded, it also counts the objects that each rule rejects, and N --rejected lists them. With a number, it prints the whole rule with its message and other fields.",
			[]need{needCRD}, func(p *samples) []string {
				if len(p.session.rulesHere()) > 0 {
					return []string{":rules all", p.numbered(":rules %d")}
				}
				return []string{":rules", ":rules all"}
			},
		},
		"find": {
			"Searches for an object that only this rule rejects. WANT is another outcome: accepted, error if the rule fails to evaluate, or budget if it costs too much. :find use makes the object that was found the current object; with N, it finds one first. If there is none, the shell prints a proof, or how many objects were tried.",
			[]need{needCRD, needRule}, func(p *samples) []string { return []string{p.numbered(":find %d"), p.numbered(":find %d error")} },
		},
		"add": {
			"Adds a rule at the current path, or at PATH, and prints its result for the object, its cost, and its share of the limit. The rule must be a condition on self. It is in the CRD at once, but only :save writes the file.",
			[]need{needCRD, needEditable}, func(p *samples) []string { return []string{":add " + p.rule(), ":undo"} },
		},
		"edit": {
			"Replaces the text of a rule; its message and other fields stay. Without RULE, it opens the rule in $EDITOR, or begins the next line with the rule if $EDITOR is not set. Without N, it opens the last expression in $EDITOR.",
			[]need{needCRD, needRule}, func(p *samples) []string {
				return []string{p.numbered(":edit %d ") + p.current(), ":undo"}
			},
		},
		"drop": {
			"Removes a rule with its message. Rules after it get smaller numbers. :undo restores the rule.",
			[]need{needCRD, needRule}, func(p *samples) []string { return []string{p.numbered(":drop %d"), ":undo"} },
		},
	}
}

func partDetails() map[string]details {
	return map[string]details{
		"message": {
			"Sets the message that users see if the rule rejects their object. Without a number, it changes the rule that you last added or changed, or the only rule here. - removes the message.",
			[]need{needCRD, needRule}, func(p *samples) []string {
				return []string{p.numbered(":message %d ") + p.fieldPath() + " is not valid", p.numbered(":message %d -")}
			},
		},
		"messageExpression": {
			"Sets an expression that computes the message, for example with the value that is not allowed. It must be a string. The API server uses the message of the rule if the expression fails, so set both.",
			[]need{needCRD, needRule}, func(p *samples) []string {
				return []string{p.numbered(":messageExpression %d ") + p.text(), p.numbered(":messageExpression %d -")}
			},
		},
		"reason": {
			"Sets the reason that programs see if the rule rejects an object: FieldValueInvalid, which is the default, FieldValueForbidden, FieldValueRequired, or FieldValueDuplicate. - removes the reason.",
			[]need{needCRD, needRule}, func(p *samples) []string {
				return []string{p.numbered(":reason %d FieldValueForbidden"), p.numbered(":reason %d -")}
			},
		},
		"fieldPath": {
			"Sets the field that the API server names in its message, if it is not the value with the rule. The path begins with a dot and is relative to that value. It must be a field of the schema.",
			[]need{needCRD, needRule, needField}, func(p *samples) []string {
				return []string{p.numbered(":fieldPath %d .") + p.fieldPath(), p.numbered(":fieldPath %d -")}
			},
		},
		"optionalOldSelf": {
			"Makes a transition rule run on create, too. oldSelf is then an optional: test oldSelf.hasValue(), and read oldSelf.value(). The API server requires that the rule uses oldSelf.",
			[]need{needCRD, needRule, needPlainRule}, func(p *samples) []string {
				n := max(0, p.plainRule())
				return []string{fmt.Sprintf(":optionalOldSelf %d true", n), fmt.Sprintf(":optionalOldSelf %d -", n)}
			},
		},
	}
}

func crdDetails() map[string]details {
	return map[string]details{
		"advice": {
			"Prints why an API server would reject the CRD, which rules cost too much, and which bounds in the schema are enough. It also prints lints: likely mistakes in rules at and below the current path.",
			[]need{needCRD}, fixed(":advice", ":rules all"),
		},
		"fix": {
			"After a line for which the shell printed a correction, runs the corrected line. Otherwise, it sets the bounds that :advice suggests, in all versions of the CRD, and prints the share of the limit that remains. With list-type, it replaces rules that only reject duplicates by the type of their list, set or map, which costs nothing.",
			[]need{needCRD}, fixed(":fix", ":advice"),
		},
		"diff": {
			"Prints the changes of the CRD that are not saved, as a diff of its file. Lines that you did not change are the same, byte by byte.",
			[]need{needCRD}, fixed(":diff", ":rules all"),
		},
		"save": {
			"Writes the CRD to its file, or to a new file. Only the rules that you changed differ; comments and formatting stay. A file that has changed on disk since it was loaded is not overwritten.",
			[]need{needCRD, needFiles}, fixed(":save", ":save crd-new.yaml"),
		},
		"save!": {
			"Writes the CRD to another file, even if the file exists. A file that an object was loaded from is never overwritten.",
			[]need{needCRD, needFiles}, fixed(":save! crd-new.yaml", ":diff"),
		},
	}
}

func sessionDetails() map[string]details {
	return map[string]details{
		"undo": {
			"Undoes the last change of the object, the old object, the rules, the version, or what is loaded. The current path stays. The files on disk do not change. :redo repeats the change.",
			[]need{needPast}, fixed(":undo", ":redo"),
		},
		"redo": {
			"Repeats the change that :undo undid. A new change makes it impossible.",
			[]need{needFuture}, fixed(":undo", ":redo"),
		},
		"let": {
			"Names an expression, so that you can use the name in other expressions and in rules. The shell replaces the name by the expression before it evaluates or adds a line. _ is always the last expression that had a value. Without arguments, it lists the names.",
			[]need{needVisible}, func(p *samples) []string { return []string{":let x = " + p.word(), "x"} },
		},
		"history": {
			"Prints the lines of this session with their numbers. On a terminal, the up key and Ctrl-R find lines of earlier sessions, too.",
			nil, fixed(":history"),
		},
		"help": {
			"Without arguments, lists all commands. With the name of a command, describes it with examples for this session. NAME? does the same for commands, and also explains functions, fields, and names.",
			nil, func(p *samples) []string { return []string{":help funcs", p.library() + "?"} },
		},
		"quit": {
			"Ends the session; so do quit, exit, and Ctrl-D. If there are unsaved rules, it only prints a warning; repeat the command to discard them.",
			nil, fixed(":quit"),
		},
	}
}

// loads returns lines that load the files of the session again, or made-up files.
func (p *samples) loads() []string {
	crd, obj := "crd.yaml", "object.yaml"
	st := p.session.state
	if st.crd != nil {
		crd = st.crd.doc.File
	}
	if file := fileOf(st.object); file != "" {
		obj = file
		if name := identify(st.object.doc).name; name != "" {
			obj += " --name " + name
		}
	}
	return []string{":load crd " + crd, ":load object " + obj}
}

// typed returns an expression to print the type of.
func (p *samples) typed() string {
	if p.session.state.location == nil {
		return "duration('90s')"
	}
	return p.field
}

// estimated returns an expression whose cost depends on the schema, if a CRD is loaded.
func (p *samples) estimated() string {
	if p.session.state.location == nil {
		return "'my-name'.matches('^[a-z-]+$')"
	}
	return p.rule()
}
