import type { LucideIcon } from 'lucide-react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { safeWebUrl } from '../lib/safe-web-url.ts'
import './button.css'

interface Props extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  kind?: 'primary' | 'plain' | 'danger' | 'bare'
  icon?: LucideIcon
  /** Shows a pending state and ignores further clicks. */
  busy?: boolean
  children: ReactNode
}

export function Button({ kind = 'plain', icon: Icon, busy = false, children, className, disabled, ...rest }: Props) {
  return (
    <button
      type="button"
      className={`button button-${kind} ${className ?? ''}`}
      aria-busy={busy || undefined}
      aria-disabled={busy || undefined}
      disabled={disabled}
      {...rest}
      {...(busy ? { onClick: (event) => event.preventDefault() } : {})}
    >
      {busy ? <span className="spinner" aria-hidden /> : Icon ? <Icon size={15} aria-hidden /> : null}
      <span>{children}</span>
    </button>
  )
}

interface IconProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'children'> {
  icon: LucideIcon
  /** Accessible name and tooltip of the icon. */
  label: string
  pressed?: boolean
}

export function IconButton({ icon: Icon, label, pressed, className, ...rest }: IconProps) {
  return (
    <button type="button" className={`icon-button ${className ?? ''}`} aria-label={label} title={label} aria-pressed={pressed} {...rest}>
      <Icon size={16} aria-hidden />
    </button>
  )
}

/** A link styled as a button to an external URL. */
export function ButtonLink({
  href,
  icon: Icon,
  kind = 'plain',
  children,
}: {
  href: string
  icon?: LucideIcon
  kind?: 'primary' | 'plain'
  children: ReactNode
}) {
  const address = safeWebUrl(href)
  if (address === undefined) return null
  return (
    <a className={`button button-${kind}`} href={address} target="_blank" rel="noreferrer noopener">
      {Icon && <Icon size={15} aria-hidden />}
      <span>{children}</span>
    </a>
  )
}
