import type { LucideIcon } from 'lucide-react'
import { Check } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { type ReactNode, useState } from 'react'
import './menu.css'

/** A dropdown menu of its trigger. */
export function Menu({ trigger, align = 'end', children }: { trigger: ReactNode; align?: 'start' | 'end'; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <DropdownMenu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal container={getPortalContainer()}>
        <DropdownMenu.Content className="menu" align={align} sideOffset={6} collisionPadding={8}>
          {children}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  )
}

/** Container of overlays inside a landmark, so that screen reader users who navigate by landmark find them. */
export const getPortalContainer = () => document.getElementById('main')

export function MenuItem({
  icon: Icon,
  danger,
  disabled,
  onSelect,
  children,
}: {
  icon?: LucideIcon
  danger?: boolean
  disabled?: boolean
  onSelect: () => void
  children: ReactNode
}) {
  return (
    <DropdownMenu.Item className={`menu-item ${danger ? 'menu-danger' : ''}`} disabled={disabled} onSelect={onSelect}>
      {Icon && <Icon size={15} aria-hidden />}
      {children}
    </DropdownMenu.Item>
  )
}

export function MenuRadioGroup<Value extends string>({
  label,
  value,
  choices,
  onChange,
}: {
  label: string
  value: Value
  choices: readonly { value: Value; text: ReactNode }[]
  onChange: (value: Value) => void
}) {
  return (
    <DropdownMenu.RadioGroup value={value} aria-label={label}>
      <DropdownMenu.Label className="menu-label">{label}</DropdownMenu.Label>
      {choices.map((choice) => (
        <DropdownMenu.RadioItem key={choice.value} value={choice.value} className="menu-item" onSelect={() => onChange(choice.value)}>
          <span className="menu-check">
            <DropdownMenu.ItemIndicator>
              <Check size={15} aria-hidden />
            </DropdownMenu.ItemIndicator>
          </span>
          {choice.text}
        </DropdownMenu.RadioItem>
      ))}
    </DropdownMenu.RadioGroup>
  )
}

export function MenuSeparator() {
  return <DropdownMenu.Separator className="menu-line" />
}
