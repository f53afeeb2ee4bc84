import { Ellipsis, KeyRound, Palette, Trash2 } from 'lucide-react'
import { Link } from 'wouter'
import { type InstanceState, useInstanceState, useRemotes } from '../../api/remotes.ts'
import type { Remote } from '../../../server/contract/remotes.ts'
import { instanceBasePath, localInstanceId } from '../../lib/instance-path.ts'
import type { InstanceConnection } from '../../stores/connection.ts'
import { IconButton } from '../../components/button.tsx'
import { Skeleton } from '../../components/feedback.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/menu.tsx'
import { type StatusBadgeData, StatusBadge } from '../../components/status.tsx'
import { KeyCaps } from '../../components/key-caps.tsx'
import { isApple } from '../../lib/key-chords.ts'
import { InstanceIcon } from '../../components/instance-icon.tsx'
import styles from './page.module.css'

export type InstanceAction = 'edit' | 'token' | 'remove'

const reachabilityBadges: Record<InstanceState['name'], StatusBadgeData> = {
  answers: { label: 'Online', shape: 'disc', tone: 'live' },
  asks: { label: 'Token required', shape: 'ring', tone: 'busy' },
  silent: { label: 'Unreachable', shape: 'diamond', tone: 'fail' },
}

const tokenStorageLabels: Record<Remote['keeps_token'], string> = {
  keychain: 'Token in keychain',
  session: 'Token until you sign out',
}

interface RowProps {
  connection: InstanceConnection
  /** Position in the list, starting at 1: the key that switches to the instance. */
  position: number
  onAction: (action: InstanceAction) => void
}

/** One instance with its status and actions. */
export function InstanceRow({ connection, position, onAction }: RowProps) {
  const { id, name, origin } = connection
  const isHome = id === localInstanceId
  const { data: state } = useInstanceState(connection)
  const tokenStorage = useRemotes().data?.find((remote) => remote.id === id)?.keeps_token
  return (
    <li className={styles.instanceRow} style={{ '--hue': connection.hue } as React.CSSProperties}>
      <InstanceIcon connection={connection} size={34} />
      <div className={styles.instanceIdentity}>
        <Link href={`~${instanceBasePath(id)}/`} className={`${styles.instanceLink} truncate`} title={name}>
          {name}
        </Link>
        <span className="text-subtle mono truncate" title={origin}>
          {origin}
        </span>
      </div>
      <div className={styles.instanceStatus}>
        {state ? <StatusBadge badge={reachabilityBadges[state.name]} /> : <Skeleton width={96} height={22} />}
        <span className={`text-subtle ${styles.instanceDetail} truncate`} title={state?.name === 'silent' ? state.message : undefined}>
          {state && describeState(state, isHome)}
        </span>
      </div>
      <p className={`text-subtle ${styles.instanceToken}`}>
        {isHome ? 'This browser is signed in' : tokenStorage && tokenStorageLabels[tokenStorage]}
      </p>
      <span className={styles.instanceKey}>{position < 10 && <KeyCaps keys={`${isApple ? 'mod+alt' : 'mod+shift'}+${position}`} />}</span>
      <span className={`row ${styles.instanceActions}`}>
        {isHome ? (
          <span />
        ) : (
          <Menu trigger={<IconButton icon={Ellipsis} label={`Actions for ${name}`} />}>
            <MenuItem icon={Palette} onSelect={() => onAction('edit')}>
              Name and color…
            </MenuItem>
            <MenuItem icon={KeyRound} onSelect={() => onAction('token')}>
              New token…
            </MenuItem>
            <MenuSeparator />
            <MenuItem icon={Trash2} danger onSelect={() => onAction('remove')}>
              Remove…
            </MenuItem>
          </Menu>
        )}
      </span>
    </li>
  )
}

function describeState(state: InstanceState, isHome: boolean): string {
  if (state.name === 'asks') return 'Enter a new token'
  if (state.name === 'silent') return isHome ? 'It may be starting' : 'Retrying automatically'
  return state.version === null ? 'Hosted' : `Homeport ${state.version}`
}
