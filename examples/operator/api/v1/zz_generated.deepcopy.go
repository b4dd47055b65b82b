package v1

import "k8s.io/apimachinery/pkg/runtime"

func (in *Backup) DeepCopyInto(out *Backup) {
	*out = *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	in.Spec.DeepCopyInto(&out.Spec)
}

func (in *Backup) DeepCopy() *Backup {
	if in == nil {
		return nil
	}
	out := new(Backup)
	in.DeepCopyInto(out)
	return out
}

func (in *Backup) DeepCopyObject() runtime.Object { return in.DeepCopy() }

func (in *BackupSpec) DeepCopyInto(out *BackupSpec) {
	*out = *in
	if in.Keep != nil {
		out.Keep = new(*in.Keep)
	}
	if in.KeepAtMost != nil {
		out.KeepAtMost = new(*in.KeepAtMost)
	}
}

func (in *BackupList) DeepCopyObject() runtime.Object {
	if in == nil {
		return nil
	}
	out := new(BackupList)
	*out = *in
	in.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Backup, len(in.Items))
	for i := range in.Items {
		in.Items[i].DeepCopyInto(&out.Items[i])
	}
	return out
}
