import { ChevronsUpDown, Plus, Server } from 'lucide-react'
import { useLocation } from 'wouter'
import { useInstanceSession } from '../api/instance.ts'
import { useHomeSession } from '../api/remotes.ts'
import { findRuntimeTraits } from '../../server/contract/runtimes.ts'
import { useCapabilities } from '../api/capabilities.ts'
import { basePath, localInstanceId, hostLabel } from '../lib/instance-path.ts'
import { useConnection, switchInstance } from '../stores/connection.ts'
import { Menu, MenuRadioGroup, MenuItem, MenuSeparator } from '../components/menu.tsx'
import { InstanceIcon } from '../components/instance-icon.tsx'

/** Shows the current instance and switches to another. */
export function InstanceSwitcher() {
  const current = useConnection((state) => state.current)
  const connections = useConnection((state) => state.connections)
  const instance = useInstanceSession().data?.instance
  const localSession = useHomeSession().data
  const capabilities = useCapabilities()
  const [, navigate] = useLocation()
  const runtime = instance
    ? `${findRuntimeTraits(instance.runtime.name)?.label ?? instance.runtime.name}${instance.runtime.version ? ` ${instance.runtime.version}` : ''}`
    : ''
  // Seen from another device, the local instance is not “this machine”.
  const displayName = (id: string, name: string) => (id === localInstanceId && localSession?.instance.is_local === false ? location.hostname : name)
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="instance-switch">
          <InstanceIcon connection={current} size={30} />
          <span className="instance-name">
            <strong className="truncate">{displayName(current.id, current.name)}</strong>
            <span className="truncate">{current.id === localInstanceId ? runtime || '\u00a0' : hostLabel(current.origin)}</span>
          </span>
          <ChevronsUpDown size={15} aria-label="Switch instance" />
        </button>
      }
    >
      <MenuRadioGroup
        label="Instances"
        value={current.id}
        choices={connections.map((connection) => ({
          value: connection.id,
          text: (
            <span className="instance-choice">
              <InstanceIcon connection={connection} size={20} />
              <span className="truncate">{displayName(connection.id, connection.name)}</span>
              <span className="text-subtle truncate">{hostLabel(connection.origin)}</span>
            </span>
          ),
        }))}
        onChange={switchInstance}
      />
      <MenuSeparator />
      {localSession?.user.is_instance_owner && (
        <>
          <MenuItem icon={Plus} onSelect={() => navigate(`~${basePath}/instances?do=add`)}>
            Add instance…
          </MenuItem>
          <MenuItem icon={Server} onSelect={() => navigate(`~${basePath}/instances`)}>
            All instances
          </MenuItem>
        </>
      )}
      {capabilities.has_instance_api && <MenuItem onSelect={() => navigate('/instance')}>About this instance</MenuItem>}
    </Menu>
  )
}
