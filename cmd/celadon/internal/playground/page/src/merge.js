// merge adds the problems of rules that have fixes to findings. If a finding about the rule contains the problem
// already, it gets the range and the fixes instead, so that the problem is shown once.
export function merge(findings, problems) {
	const all = [...findings];
	for (const p of problems) {
		const i = all.findIndex((f) => f.rule === p.rule && f.to === undefined && f.message.includes(p.problem));
		if (i < 0) all.push(p);
		else all[i] = { ...all[i], from: p.from, to: p.to, actions: p.actions };
	}
	return all;
}
