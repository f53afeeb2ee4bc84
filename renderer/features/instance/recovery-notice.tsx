import { TriangleAlert } from 'lucide-react'
import { useInstanceSession } from '../../api/instance.ts'
import { useBackups } from '../../api/maintenance.ts'
import { CopyButton } from '../../components/copy.tsx'
import { Prose } from '../../components/prose.tsx'
import { RelativeTime } from '../../components/time.tsx'
import styles from './recovery-notice.module.css'

/** Shown after a start found the platform database damaged and restored a copy. Changes made since that copy are lost. */
export function RecoveryNotice() {
  const isOwner = useInstanceSession().data?.user.is_instance_owner ?? false
  const recovered = useBackups(isOwner).data?.recovered
  if (!recovered) return null
  return (
    <div className={styles.recovered} role="alert">
      <TriangleAlert size={18} aria-hidden />
      <div>
        <p>
          <Prose text={recovered.message} />
        </p>
        <p className="text-muted">
          Detected <RelativeTime at={recovered.at} />.
        </p>
        {recovered.damaged_file && (
          <p className={styles.recoveredFile}>
            <span className="mono">{recovered.damaged_file}</span>
            <CopyButton text={recovered.damaged_file} label="Copy path of the damaged file" />
          </p>
        )}
      </div>
    </div>
  )
}
