package repl

// details is the text of :help for a command.
type details struct {
	// text is a paragraph of two to four sentences.
	text string
	// example is a line, or "" if the command needs none.
	example string
}

// commandDetails holds the details of each command.
var commandDetails = map[string]details{
	"load": {
		text: "Loads a file. The shell finds out whether it holds a CRD, an object, or admission policies; write crd, " +
			"object, old, or policy to choose. If a file holds several objects of the CRD's kind, select one with " +
			"--name NAME.",
		example: ":load crd crd.yaml",
	},
	"use": {
		text: "Switches to a version of the CRD. Expressions and rules then see the schema of that version. Each " +
			"version has its own rules.",
		example: ":use v1",
	},
	"kube": {
		text: "Sets the Kubernetes version that rules are written for. Expressions can then use only the functions " +
			"that API servers of this version accept in new rules. The shell prints the rules of the CRD that this " +
			"version rejects.",
		example: ":kube 1.34",
	},
	"cd": {
		text: "Moves to a path in the schema, so that self is the value at this path. Paths are relative to the " +
			"current path; .. is the parent, / is the root, and [*] is the first item of a list or the first value " +
			"of a map.",
		example: ":cd spec.env[*]",
	},
	"ls": {
		text: "Lists the fields at a path with their types, whether they are required, the number of their rules, and " +
			"their bounds. Without PATH, it lists the fields at the current path.",
		example: ":ls spec",
	},
	"pwd": {
		text: "Prints the kind, the version, and the current path, with the type and the bounds of the value there. " +
			"self has this type in expressions and rules.",
	},
	"show": {
		text: "Prints the object, or its value at a path, as YAML. The object is shown as rules see it: with " +
			"defaults, and without fields that the schema does not declare.",
		example: ":show spec",
	},
	"type": {
		text: "Prints the type of an expression in the words of a schema, and in those of CEL if they differ. The " +
			"expression is not evaluated, so no object is necessary.",
		example: ":type self.spec.env.map(e, e.name)",
	},
	"cost": {
		text: "Prints the API server's cost estimate for an expression, and its share of the limit for a rule at the " +
			"current path. Below, it lists the lists, maps, and strings without a bound that the estimate depends " +
			"on: a bound in the schema lowers it.",
		example: ":cost self.spec.env.all(e, e.name != '')",
	},
	"explain": {
		text: "Evaluates an expression and prints the value and the cost of every part. Parts of macros show the last " +
			"element that was evaluated.",
		example: ":explain self.spec.replicas > 1 && self.spec.replicas < 9",
	},
	"funcs": {
		text: "Lists the functions, macros, and operators of the Kubernetes version in groups. With the name of a " +
			"function, it explains the function; with the name of a group, it lists the forms of the functions in " +
			"the group; with any other word, it searches names and descriptions.",
		example: ":funcs quantity",
	},
	"set": {
		text: "Changes a value of the object and creates missing parents. The value is JSON, so strings need double " +
			"quotes. Without a value, it opens the object or the value at PATH in $EDITOR, if that is set. With the " +
			"name of a setting instead of a path, it changes or prints the setting: preview, color, or width.",
		example: ":set spec.replicas = 3",
	},
	"unset": {
		text:    "Removes a value from the object. Use it to see how rules treat an absent field. :undo restores the value.",
		example: ":unset spec.replicas",
	},
	"old": {
		text: "Prints or changes the old object, which transition rules see as oldSelf. copy makes the object the old " +
			"object; after a change of the object, the rules then see an update. none removes the old object.",
		example: ":old copy",
	},
	"as": {
		text: "Sets whether a write of the object or of its status is evaluated, or prints which. A write of the " +
			"object does not change the status of a CRD with the status subresource.",
		example: ":as status",
	},
	"check": {
		text: "Validates the object, and its old version if one is loaded, like celadon check: schema, rules, " +
			"defaults, and metadata. It prints the message that kubectl would print.",
	},
	"policy": {
		text: "Prints what the loaded admission policies decide about a write of the object, or with delete about its " +
			"deletion. With the name of a policy, expressions have the variables of the policy, such as object, " +
			"params, and variables; - goes back to the rules of the CRD.",
		example: ":policy delete",
	},
	"persisted": {
		text: "Prints the object as the API server would store it, or with diff, how that differs from the object: " +
			"defaults, and fields that the schema does not declare. Values with format password are removed.",
		example: ":persisted diff",
	},
	"objects": {
		text: "Lists the loaded objects of the CRD with their numbers. celadon repl PATH… loads all objects in files " +
			"and folders, and :rules then shows how many of them each rule rejects.",
	},
	"object": {
		text: "Makes one of the loaded objects the current object, which self refers to. Select it by its name, or by " +
			"its number in :objects. A name that several namespaces have needs the form NAMESPACE/NAME.",
		example: ":object default/example",
	},
	"rules": {
		text: "Lists the rules at the current path, or if it has none, the rules below it; with all, the rules of the " +
			"whole version. For each rule, it prints the result for the object, the cost, the API server's " +
			"estimate, and the share of the limit. If many objects are loaded, it also counts the objects that each " +
			"rule rejects, and N --rejected lists them. With a number, it prints the whole rule with its message " +
			"and other fields.",
		example: ":rules all",
	},
	"find": {
		text: "Searches for an object that only this rule rejects. WANT is another outcome: accepted, error if the " +
			"rule fails to evaluate, or budget if it costs too much. :find use makes the object that was found the " +
			"current object; with N, it finds one first. If there is none, the shell prints a proof, or how many " +
			"objects were tried.",
		example: ":find 0",
	},
	"add": {
		text: "Adds a rule at the current path, or at PATH, and prints its result for the object, its cost, and its " +
			"share of the limit. The rule must be a condition on self. It is in the CRD at once, but only :save " +
			"writes the file.",
		example: ":add self.spec.replicas <= 10",
	},
	"edit": {
		text: "Replaces the text of a rule; its message and other fields stay. Without RULE, it opens the rule in " +
			"$EDITOR, or begins the next line with the rule if $EDITOR is not set. Without N, it opens the last " +
			"expression in $EDITOR.",
		example: ":edit 0 self.spec.replicas <= 12",
	},
	"drop": {
		text:    "Removes a rule with its message. Rules after it get smaller numbers. :undo restores the rule.",
		example: ":drop 0",
	},
	"message": {
		text: "Sets the message that users see if the rule rejects their object. Without a number, it changes the " +
			"rule that you last added or changed, or the only rule here. - removes the message.",
		example: ":message 0 at most 10 replicas are allowed",
	},
	"messageExpression": {
		text: "Sets an expression that computes the message, for example with the value that is not allowed. It must " +
			"be a string. The API server uses the message of the rule if the expression fails, so set both.",
		example: ":messageExpression 0 'got %d replicas'.format([self.spec.replicas])",
	},
	"reason": {
		text: "Sets the reason that programs see if the rule rejects an object: FieldValueInvalid, which is the " +
			"default, FieldValueForbidden, FieldValueRequired, or FieldValueDuplicate. - removes the reason.",
		example: ":reason 0 FieldValueForbidden",
	},
	"fieldPath": {
		text: "Sets the field that the API server names in its message, if it is not the value with the rule. The " +
			"path begins with a dot and is relative to that value. It must be a field of the schema.",
		example: ":fieldPath 0 .spec.replicas",
	},
	"optionalOldSelf": {
		text: "Makes a transition rule run on create, too. oldSelf is then an optional: test oldSelf.hasValue(), and " +
			"read oldSelf.value(). The API server requires that the rule uses oldSelf.",
		example: ":optionalOldSelf 0 true",
	},
	"advice": {
		text: "Prints why an API server would reject the CRD, which rules cost too much, and which bounds in the " +
			"schema are enough. It also prints lints: likely mistakes in rules at and below the current path.",
	},
	"fix": {
		text: "After a line for which the shell printed a correction, runs the corrected line. Otherwise, it sets the " +
			"bounds that :advice suggests, in all versions of the CRD, and prints the share of the limit that " +
			"remains. With list-type, it replaces rules that only reject duplicates by the type of their list, set " +
			"or map, which costs nothing.",
	},
	"diff": {
		text: "Prints the changes of the CRD that are not saved, as a diff of its file. Lines that you did not change " +
			"are the same, byte by byte.",
	},
	"save": {
		text: "Writes the CRD to its file, or to a new file. Only the rules that you changed differ; comments and " +
			"formatting stay. A file that has changed on disk since it was loaded is not overwritten.",
		example: ":save crd-new.yaml",
	},
	"save!": {
		text: "Writes the CRD to another file, even if the file exists. A file that an object was loaded from is " +
			"never overwritten.",
		example: ":save! crd-new.yaml",
	},
	"undo": {
		text: "Undoes the last change of the object, the old object, the rules, the version, or what is loaded. The " +
			"current path stays. The files on disk do not change. :redo repeats the change.",
	},
	"redo": {
		text: "Repeats the change that :undo undid. A new change makes it impossible.",
	},
	"let": {
		text: "Names an expression, so that you can use the name in other expressions and in rules. The shell " +
			"replaces the name by the expression before it evaluates or adds a line. _ is always the last " +
			"expression that had a value. Without arguments, it lists the names.",
		example: ":let env = self.spec.env",
	},
	"read": {
		text: "Runs the lines of a file as if you had typed them, and stops at the first error. The lines can write " +
			"only files in the tree: the work tree of git, or else the working directory. On a terminal, the shell " +
			"runs the lines of ~/.config/celadon/start.txt when it starts.",
		example: ":read session.txt",
	},
	"history": {
		text: "Prints the lines of this session with their numbers. On a terminal, the up key and Ctrl-R find lines " +
			"of earlier sessions, too.",
	},
	"help": {
		text: "Without arguments, lists all commands. With the name of a command, describes it. NAME? does the same " +
			"for commands, and also explains functions, fields, and names.",
		example: ":help add",
	},
	"quit": {
		text: "Ends the session; so do quit, exit, and Ctrl-D. If there are unsaved rules, it only prints a warning; " +
			"repeat the command to discard them.",
	},
}
