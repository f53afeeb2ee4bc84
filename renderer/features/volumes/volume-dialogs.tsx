import type { VolumeSnapshot } from '../../../server/contract/volumes.ts'
import { useDeleteVolume, useDeleteVolumeSnapshot, useDetachVolume, useRestoreVolume } from '../../api/volumes.ts'
import { Button } from '../../components/button.tsx'
import { ConfirmByNameDialog, Dialog } from '../../components/dialog.tsx'
import { ProblemView } from '../../components/feedback.tsx'
import { Progress } from '../../components/progress.tsx'
import { formatBytes, formatDateTime } from '../../lib/format.ts'

interface Props {
  slug: string
  branch: string | null
  name: string
  onClose: () => void
}

const environmentQuery = (branch: string | null) => (branch === null ? {} : { branch })

export function RestoreVolumeDialog({ slug, branch, name, snapshot, isInUse, onClose }: Props & { snapshot: VolumeSnapshot; isInUse: boolean }) {
  const restore = useRestoreVolume({
    hidesErrorToast: true,
    successMessage: ({ before }) => (before ? `Restored ${name}. The previous files are in a snapshot.` : `Restored ${name}.`),
    onSuccess: onClose,
  })
  const effect = isInUse ? ' The services stop during this, and requests wait.' : ''
  return (
    <ConfirmByNameDialog
      open
      onOpenChange={() => {
        if (!restore.isPending) onClose()
      }}
      title={`Restore ${name}?`}
      description={`Replaces all files of the volume with the snapshot of ${formatDateTime(snapshot.created_at)}, ${formatBytes(snapshot.bytes)}. A snapshot of the current files is taken first.${effect} If the restore fails, the current files are kept.`}
      name={name}
      action="Restore volume"
      busy={restore.isPending}
      onConfirm={() => restore.mutate({ params: { slug, name }, query: environmentQuery(branch), body: { snapshot_id: snapshot.id } })}
    >
      {restore.isPending && <Progress label="Saving the current files, then restoring" />}
      {restore.error && <ProblemView problem={restore.error} />}
    </ConfirmByNameDialog>
  )
}

export function DeleteVolumeDialog({ slug, branch, name, onClose }: Props) {
  const remove = useDeleteVolume({ hidesErrorToast: true, successMessage: `Deleted ${name}. A snapshot of its files was kept.`, onSuccess: onClose })
  return (
    <ConfirmByNameDialog
      open
      onOpenChange={() => {
        if (!remove.isPending) onClose()
      }}
      title={`Delete ${name}?`}
      description="The live version does not use this volume. All its files are deleted. A snapshot is taken first, from which it can be restored."
      name={name}
      action="Delete volume"
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { slug, name }, query: environmentQuery(branch) })}
    >
      {remove.isPending && <Progress label="Taking a snapshot, then deleting the volume" />}
      {remove.error && <ProblemView problem={remove.error} />}
    </ConfirmByNameDialog>
  )
}

export function DeleteSnapshotDialog({ slug, branch, name, snapshot, onClose }: Props & { snapshot: VolumeSnapshot }) {
  const remove = useDeleteVolumeSnapshot({ hidesErrorToast: true, successMessage: 'Snapshot deleted.', onSuccess: onClose })
  return (
    <ConfirmByNameDialog
      open
      onOpenChange={onClose}
      title="Delete this snapshot?"
      description={`The snapshot of ${name} from ${formatDateTime(snapshot.created_at)}, ${formatBytes(snapshot.bytes)}, is permanently deleted.`}
      name={name}
      action="Delete snapshot"
      busy={remove.isPending}
      onConfirm={() => remove.mutate({ params: { slug, name, id: snapshot.id }, query: environmentQuery(branch) })}
    >
      {remove.error && <ProblemView problem={remove.error} />}
    </ConfirmByNameDialog>
  )
}

export function DetachVolumeDialog({ slug, name, onClose, onDetached }: Props & { onDetached: (deploymentId: string | null) => void }) {
  const detach = useDetachVolume({
    hidesErrorToast: true,
    successMessage: `Detached ${name}.`,
    onSuccess({ deployment_id }) {
      onDetached(deployment_id)
      onClose()
    },
  })
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Detach ${name}?`}
      description="The project is redeployed without this volume. Its files are kept until you delete it, and are used again when you add the path again."
    >
      {detach.error && <ProblemView problem={detach.error} />}
      <footer className="dialog-footer">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="danger" busy={detach.isPending} onClick={() => detach.mutate({ params: { slug, name } })}>
          Detach volume
        </Button>
      </footer>
    </Dialog>
  )
}
