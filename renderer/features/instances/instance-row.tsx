import { Ellipsis, KeyRound, Palette, Trash2 } from 'lucide-react'
import { Link } from 'wouter'
import type { Remote } from '../../../server/contract/remotes.ts'
import { type InstanceState, useInstanceState, useRemotes } from '../../api/remotes.ts'
import { baseOf, homeId } from '../../stores/address.ts'
import type { Connection } from '../../stores/connection.ts'
import { IconButton } from '../../ui/button.tsx'
import { Skeleton } from '../../ui/feedback.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { type Sign, StatusPlate } from '../../ui/status.tsx'
import { Keys } from '../keyboard/keys.tsx'
import { isApple } from '../keyboard/chords.ts'
import { InstanceMark } from './instance-mark.tsx'

export type Wish = 'edit' | 'token' | 'remove'

const signs: Record<InstanceState['name'], Sign> = {
  answers: { word: 'Online', shape: 'disc', tone: 'live' },
  asks: { word: 'Token required', shape: 'ring', tone: 'busy' },
  silent: { word: 'Does not answer', shape: 'diamond', tone: 'fail' },
}

const keptWords: Record<Remote['keeps_token'], string> = {
  keychain: 'Token in the keychain',
  session: 'Token until you sign out',
}

interface RowProps {
  connection: Connection
  /** In the list, from one: the key that brings it to the front. */
  place: number
  onWish: (wish: Wish) => void
}

/** One instance: who it is, how it is, and what can be done with it. */
export function InstanceRow({ connection, place, onWish }: RowProps) {
  const { id, name, origin } = connection
  const isHome = id === homeId
  const { data: state } = useInstanceState(connection)
  const kept = useRemotes().data?.find((remote) => remote.id === id)?.keeps_token
  return (
    <li className="instance-row" style={{ '--hue': connection.hue } as React.CSSProperties}>
      <InstanceMark connection={connection} size={34} />
      <div className="instance-who">
        <Link href={`~${baseOf(id)}/`} className="instance-link clip" title={name}>
          {name}
        </Link>
        <span className="faint mono clip" title={origin}>
          {origin}
        </span>
      </div>
      <div className="instance-how">
        {state ? <StatusPlate sign={signs[state.name]} /> : <Skeleton width={96} height={22} />}
        <span className="faint instance-what clip" title={state?.name === 'silent' ? state.message : undefined}>
          {state && words(state, isHome)}
        </span>
      </div>
      <p className="faint instance-kept">{isHome ? 'This browser is signed in' : kept && keptWords[kept]}</p>
      <span className="instance-key">{place < 10 && <Keys keys={`${isApple ? 'mod+alt' : 'mod+shift'}+${place}`} />}</span>
      <span className="row instance-acts">
        {isHome ? (
          <span className="instance-no-acts" />
        ) : (
          <Menu trigger={<IconButton icon={Ellipsis} label={`What to do with ${name}`} />}>
            <MenuItem icon={Palette} onSelect={() => onWish('edit')}>
              Name and colour…
            </MenuItem>
            <MenuItem icon={KeyRound} onSelect={() => onWish('token')}>
              New token…
            </MenuItem>
            <MenuLine />
            <MenuItem icon={Trash2} danger onSelect={() => onWish('remove')}>
              Remove…
            </MenuItem>
          </Menu>
        )}
      </span>
    </li>
  )
}

function words(state: InstanceState, isHome: boolean): string {
  if (state.name === 'asks') return 'Give it a new one'
  if (state.name === 'silent') return isHome ? 'It may be starting' : 'It is asked again by itself'
  return state.version === null ? 'Hosted' : `Homeport ${state.version}`
}
