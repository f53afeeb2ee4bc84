import { Switch as RadixSwitch } from 'radix-ui'
import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, type TextareaHTMLAttributes, useId } from 'react'
import './field.css'

interface FieldDescription {
  label: string
  hint?: ReactNode
  error?: string | undefined
}

/** A labeled input with hint and error. */
export function TextField({ label, hint, error, mono, ...input }: FieldDescription & { mono?: boolean } & InputHTMLAttributes<HTMLInputElement>) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className={`input ${mono ? 'mono' : ''}`}
        autoComplete="off"
        spellCheck={false}
        aria-invalid={error ? true : undefined}
        aria-describedby={`${id}-about`}
        {...input}
      />
      <FieldDescription id={`${id}-about`} hint={hint} error={error} />
    </div>
  )
}

/** A list with a line for each item. */
export function LinesField({ label, hint, error, ...textarea }: FieldDescription & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="input mono"
        rows={3}
        spellCheck={false}
        aria-invalid={error ? true : undefined}
        aria-describedby={`${id}-about`}
        {...textarea}
      />
      <FieldDescription id={`${id}-about`} hint={hint} error={error} />
    </div>
  )
}

export function SelectField({ label, hint, error, children, ...select }: FieldDescription & SelectHTMLAttributes<HTMLSelectElement>) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input select" aria-describedby={`${id}-about`} {...select}>
        {children}
      </select>
      <FieldDescription id={`${id}-about`} hint={hint} error={error} />
    </div>
  )
}

export function SwitchField({
  label,
  hint,
  error,
  checked,
  onChange,
  disabled,
}: FieldDescription & { checked: boolean; onChange: (checked: boolean) => void; disabled?: boolean }) {
  const id = useId()
  return (
    <div className="field field-switch">
      <div>
        <label htmlFor={id}>{label}</label>
        <FieldDescription id={`${id}-about`} hint={hint} error={error} />
      </div>
      <RadixSwitch.Root id={id} className="switch" checked={checked} onCheckedChange={onChange} disabled={disabled} aria-describedby={`${id}-about`}>
        <RadixSwitch.Thumb className="switch-thumb" />
      </RadixSwitch.Root>
    </div>
  )
}

function FieldDescription({ id, hint, error }: { id: string; hint?: ReactNode; error?: string | undefined }) {
  return (
    <p id={id} className={error ? 'field-error' : 'field-hint'} role={error ? 'alert' : undefined}>
      {error ?? hint}
    </p>
  )
}
