import { Ellipsis, Eye, EyeOff, PencilLine, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { ProjectEnvVar } from '../../../server/contract/env-vars.ts'
import { IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { RelativeTime } from '../../components/time.tsx'
import styles from './page.module.css'

export function VariableRow({
  variable,
  showsAll,
  onEdit,
  onDelete,
}: {
  variable: ProjectEnvVar
  showsAll: boolean
  onEdit: () => void
  onDelete: () => void
}) {
  const { key, value, is_sensitive, is_write_only, is_build_secret, updated_at } = variable
  const [override, setOverride] = useState<boolean | null>(null)
  const isShown = !is_write_only && (override ?? (showsAll && !is_sensitive))
  return (
    <li className={`card-row ${styles.envRow}`}>
      <span className={styles.envKey}>
        <code title={key}>{key}</code>
        {is_sensitive && <span className={styles.envSensitive}>{is_write_only ? 'Write-only' : 'Sensitive'}</span>}
        {is_build_secret && <span className={styles.envSensitive}>Build secret</span>}
      </span>
      {isShown ? (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- makes long values scrollable with the keyboard
        <pre className={styles.envValue} tabIndex={0} role="group" aria-label={`Value of ${key}`}>
          {value === '' ? <span className="text-subtle">empty</span> : value}
        </pre>
      ) : (
        // Fixed length, so that the mask does not reveal the value's length.
        <span
          className={`${styles.envValue} ${styles.envMask}`}
          role="img"
          aria-label={`Value of ${key}, ${is_write_only ? 'write-only' : 'hidden'}`}
        >
          ••••••••••••
        </span>
      )}
      <span className={`text-subtle ${styles.envWhen}`}>
        <RelativeTime at={updated_at} />
      </span>
      <span className={`row ${styles.envActions}`}>
        {!is_write_only && (
          <>
            <IconButton
              icon={isShown ? EyeOff : Eye}
              label={isShown ? `Hide value of ${key}` : `Show value of ${key}`}
              onClick={() => setOverride(!isShown)}
            />
            <CopyButton text={value} label={`Copy value of ${key}`} />
          </>
        )}
        <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${key}`} />}>
          <MenuItem icon={PencilLine} onSelect={onEdit}>
            {is_write_only ? 'Replace value…' : 'Edit value…'}
          </MenuItem>
          <MenuItem icon={Trash2} danger onSelect={onDelete}>
            Delete…
          </MenuItem>
        </Menu>
      </span>
    </li>
  )
}
