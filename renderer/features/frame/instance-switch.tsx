import { ChevronsUpDown } from 'lucide-react'
import { useLocation } from 'wouter'
import { useInstance } from '../../api/queries.ts'
import { useConnection } from '../../stores/connection.ts'
import { Logo } from '../../ui/logo.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../../ui/menu.tsx'

/** Which instance is in front of you, and the way to another. */
export function InstanceSwitch() {
  const { connections, current, switchTo } = useConnection()
  const instance = useInstance().data?.instance
  const [, go] = useLocation()
  const runtime = instance
    ? `${instance.runtime.name === 'docker' ? 'Docker' : 'Processes'}${instance.runtime.version ? ` ${instance.runtime.version}` : ''}`
    : ''
  return (
    <Menu
      align="start"
      trigger={
        <button type="button" className="instance-switch">
          <Logo size={30} />
          <span className="instance-name">
            <strong className="clip">{current.id === 'local' && instance && !instance.is_local ? location.hostname : current.name}</strong>
            <span className="clip">{runtime || ' '}</span>
          </span>
          <ChevronsUpDown size={15} aria-label="Switch instance" />
        </button>
      }
    >
      <MenuChoice
        label="Instances"
        value={current.id}
        choices={connections.map(({ id, name, base_url }) => ({
          value: id,
          text: (
            <span className="clip">
              {name} <span className="faint">{base_url || location.host}</span>
            </span>
          ),
        }))}
        onChange={(id) => {
          switchTo(id)
          go('/')
        }}
      />
      <MenuLine />
      <MenuItem onSelect={() => go('/instance')}>About this instance</MenuItem>
    </Menu>
  )
}
