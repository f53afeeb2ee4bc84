import { Camera, Download, Ellipsis, FolderOpen, RotateCcw, Trash2, Unlink, Upload } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import type { Volume, VolumeSnapshot } from '../../../server/contract/volumes.ts'
import { useVolumeDownload } from '../../api/downloads.ts'
import { useCreateVolumeSnapshot } from '../../api/volumes.ts'
import { Button, IconButton } from '../../components/button.tsx'
import { DownloadButton } from '../../components/download-button.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { formatBytes } from '../../lib/format.ts'
import { sanitizeForDisplay } from '../../lib/sanitize-for-display.ts'
import { saveFile } from '../../lib/save-file.ts'
import { UploadVolumeArchiveDialog } from './upload-archive-dialog.tsx'
import { snapshotReasonLabels, volumeFilename, volumeFilesPath } from './volume-format.ts'
import { DeleteSnapshotDialog, DeleteVolumeDialog, DetachVolumeDialog, RestoreVolumeDialog } from './volume-dialogs.tsx'
import styles from './volumes.module.css'

type OpenDialog = { name: 'delete' | 'detach' | 'upload' } | { name: 'restore' | 'delete-snapshot'; snapshot: VolumeSnapshot }

interface VolumeScope {
  slug: string
  branch: string | null
}

/** One volume: its size, its mounts, its snapshots and its actions. */
export function VolumeCard({ slug, branch, volume, onDeployed }: VolumeScope & { volume: Volume; onDeployed: (id: string | null) => void }) {
  const { name, size_bytes, used_by, snapshots, added } = volume
  const [open, setOpen] = useState<OpenDialog | null>(null)
  const [, navigate] = useLocation()
  const download = useVolumeDownload(slug, branch, name)
  const query = branch === null ? {} : { branch }
  const take = useCreateVolumeSnapshot({ successMessage: `Took a snapshot of ${name}.` })
  const close = () => setOpen(null)
  const isGone = used_by.length === 0 && size_bytes === 0
  const dialog = { slug, branch, name, onClose: close }
  return (
    <section className="card" aria-labelledby={`volume-${name}`}>
      <header className={`card-header ${styles.head}`}>
        <div className={styles.title}>
          <h2 id={`volume-${name}`}>{name}</h2>
          <span className="text-muted">{size_bytes === null ? 'Size unknown' : isGone ? 'Deleted' : formatBytes(size_bytes)}</span>
        </div>
        <div className="row">
          {!isGone && (
            <>
              <Button icon={FolderOpen} aria-label={`Browse ${name}`} onClick={() => navigate(volumeFilesPath(slug, branch, name))}>
                Browse
              </Button>
              <Button
                icon={Camera}
                aria-label={`Take snapshot of ${name}`}
                busy={take.isPending}
                onClick={() => take.mutate({ params: { slug, name }, query })}
              >
                Take snapshot
              </Button>
              <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${name}`} />}>
                <MenuItem
                  icon={Download}
                  onSelect={() =>
                    void download.volume(() => {}).then((file) => file && saveFile(file, volumeFilename(slug, name, new Date().toISOString())))
                  }
                >
                  Download
                </MenuItem>
                <MenuItem icon={Upload} onSelect={() => setOpen({ name: 'upload' })}>
                  Upload archive…
                </MenuItem>
                {added && branch === null && (
                  <MenuItem icon={Unlink} onSelect={() => setOpen({ name: 'detach' })}>
                    Detach…
                  </MenuItem>
                )}
                <MenuItem icon={Trash2} danger disabled={used_by.length > 0} onSelect={() => setOpen({ name: 'delete' })}>
                  {used_by.length > 0 ? 'In use, cannot be deleted' : 'Delete…'}
                </MenuItem>
              </Menu>
            </>
          )}
        </div>
      </header>
      <div className={`card-body ${styles.uses}`}>
        {used_by.length === 0 ? (
          <p className="text-muted">{isGone ? 'Restore a snapshot to get its files back.' : 'The live version does not use it.'}</p>
        ) : (
          used_by.map(({ service, path, is_read_only }) => (
            <p key={`${service} ${path}`}>
              <strong>{service}</strong> at <code>{sanitizeForDisplay(path)}</code>
              {is_read_only && <span className="text-subtle"> · read-only</span>}
            </p>
          ))
        )}
        {added && <p className={`text-subtle ${styles.small}`}>Added to the project, without a configuration file.</p>}
      </div>
      {snapshots.length > 0 && (
        <ul data-rows className={styles.rows} aria-label={`Snapshots of ${name}`} aria-live="polite" aria-relevant="additions">
          {snapshots.map((snapshot) => (
            <li key={snapshot.id} className={`card-row ${styles.snapshot}`}>
              <p>
                <RelativeTime at={snapshot.created_at} />
                <span className="text-subtle"> · {snapshotReasonLabels[snapshot.reason]}</span>
              </p>
              <span className={styles.bytes}>{formatBytes(snapshot.bytes)}</span>
              <span className={`row ${styles.actions}`}>
                <DownloadButton
                  load={download.snapshot(snapshot.id)}
                  name={volumeFilename(slug, name, snapshot.created_at)}
                  label={`Download the snapshot of ${snapshot.created_at}`}
                />
                <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for the snapshot of ${snapshot.created_at}`} />}>
                  <MenuItem icon={RotateCcw} onSelect={() => setOpen({ name: 'restore', snapshot })}>
                    Restore…
                  </MenuItem>
                  <MenuItem icon={Trash2} danger onSelect={() => setOpen({ name: 'delete-snapshot', snapshot })}>
                    Delete…
                  </MenuItem>
                </Menu>
              </span>
            </li>
          ))}
        </ul>
      )}
      {open?.name === 'upload' && <UploadVolumeArchiveDialog {...dialog} isInUse={used_by.length > 0} />}
      {open?.name === 'delete' && <DeleteVolumeDialog {...dialog} />}
      {open?.name === 'detach' && <DetachVolumeDialog {...dialog} onDetached={onDeployed} />}
      {open?.name === 'restore' && <RestoreVolumeDialog {...dialog} snapshot={open.snapshot} isInUse={used_by.length > 0} />}
      {open?.name === 'delete-snapshot' && <DeleteSnapshotDialog {...dialog} snapshot={open.snapshot} />}
    </section>
  )
}
