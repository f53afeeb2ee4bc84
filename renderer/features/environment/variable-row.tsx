import { Ellipsis, Eye, EyeOff, PencilLine, Trash2, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy.tsx'
import { Menu, MenuItem } from '../../components/menu.tsx'
import { RelativeTime } from '../../components/time.tsx'
import { isSecretName, type StagedVariable } from './change-set.ts'
import styles from './page.module.css'

const changeLabels = { added: 'New', changed: 'Changed', deleted: 'Deleted' }

export function VariableRow({
  variable,
  showsAll,
  isSelected,
  onSelect,
  onEdit,
  onDelete,
  onUndo,
}: {
  variable: StagedVariable
  showsAll: boolean
  isSelected: boolean
  onSelect: (isSelected: boolean) => void
  onEdit: () => void
  onDelete: () => void
  onUndo: () => void
}) {
  const { key, value, is_sensitive, is_write_only, is_build_secret, updated_at, change } = variable
  const [override, setOverride] = useState<boolean | null>(null)
  const hasValue = !is_write_only
  const isShown = hasValue && (override ?? (showsAll && !is_sensitive && !isSecretName(key)))
  return (
    <li className={`card-row ${styles.envRow} ${change === 'deleted' ? styles.envDeleted : ''}`}>
      <input
        type="checkbox"
        aria-label={`Select ${key}`}
        checked={isSelected}
        disabled={change === 'deleted'}
        onChange={({ target }) => onSelect(target.checked)}
      />
      <span className={styles.envKey}>
        <code title={key}>{key}</code>
        {change !== null && <span className={styles.envChange}>{changeLabels[change]}</span>}
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
      <span className={`text-subtle ${styles.envWhen}`}>{updated_at !== '' && <RelativeTime at={updated_at} />}</span>
      <span className={`row ${styles.envActions}`}>
        {hasValue && change !== 'deleted' && (
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
          {change !== 'deleted' && (
            <MenuItem icon={PencilLine} onSelect={onEdit}>
              {is_write_only ? 'Replace value…' : 'Edit value…'}
            </MenuItem>
          )}
          {change !== null && (
            <MenuItem icon={Undo2} onSelect={onUndo}>
              Undo change
            </MenuItem>
          )}
          {change !== 'deleted' && (
            <MenuItem icon={Trash2} danger onSelect={onDelete}>
              Delete
            </MenuItem>
          )}
        </Menu>
      </span>
    </li>
  )
}
