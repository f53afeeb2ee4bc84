import { ChevronsUpDown, Plus, Server } from 'lucide-react'
import { useLocation } from 'wouter'
import { useOffered } from '../../api/offered.ts'
import { useInstance } from '../../api/queries.ts'
import { useHomeSession } from '../../api/remotes.ts'
import { base, homeId } from '../../stores/address.ts'
import { useConnection } from '../../stores/connection.ts'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { hostOf } from '../instances/host.ts'
import { InstanceMark } from '../instances/instance-mark.tsx'
import { switchTo } from '../instances/switch.ts'

/** Which instance is in front of you, and the way to another. */
export function InstanceSwitch() {
  const current = useConnection((state) => state.current)
  const connections = useConnection((state) => state.connections)
  const instance = useInstance().data?.instance
  const here = useHomeSession().data
  const offered = useOffered()
  const [, go] = useLocation()
  const runtime = instance
    ? `${instance.runtime.name === 'docker' ? 'Docker' : 'Processes'}${instance.runtime.version ? ` ${instance.runtime.version}` : ''}`
    : ''
  // Seen from another device, the instance at home is not this machine.
  const nameOf = (id: string, name: string) => (id === homeId && here?.instance.is_local === false ? location.hostname : name)
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="instance-switch">
          <InstanceMark connection={current} size={30} />
          <span className="instance-name">
            <strong className="clip">{nameOf(current.id, current.name)}</strong>
            <span className="clip">{current.id === homeId ? runtime || '\u00a0' : hostOf(current.origin)}</span>
          </span>
          <ChevronsUpDown size={15} aria-label="Switch instance" />
        </button>
      }
    >
      <MenuChoice
        label="Instances"
        value={current.id}
        choices={connections.map((connection) => ({
          value: connection.id,
          text: (
            <span className="instance-choice">
              <InstanceMark connection={connection} size={20} />
              <span className="clip">{nameOf(connection.id, connection.name)}</span>
              <span className="faint clip">{hostOf(connection.origin)}</span>
            </span>
          ),
        }))}
        onChange={switchTo}
      />
      <MenuLine />
      {here?.user.is_instance_owner && (
        <>
          <MenuItem icon={Plus} onSelect={() => go(`~${base}/instances?do=add`)}>
            Add an instance…
          </MenuItem>
          <MenuItem icon={Server} onSelect={() => go(`~${base}/instances`)}>
            All instances
          </MenuItem>
        </>
      )}
      {offered.instance && <MenuItem onSelect={() => go('/instance')}>About this instance</MenuItem>}
    </Menu>
  )
}
