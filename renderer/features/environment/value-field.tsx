import { type TextareaHTMLAttributes, useId } from 'react'
import styles from './page.module.css'

/** Values can have several lines, such as keys and certificates. */
export function ValueField({
  label,
  hint,
  error,
  ...area
}: { label: string; hint?: string; error?: string | undefined } & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  const id = useId()
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className={`input mono ${styles.envValueField}`}
        rows={3}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        aria-invalid={error ? true : undefined}
        aria-describedby={`${id}-about`}
        {...area}
      />
      <p id={`${id}-about`} className={error ? 'field-error' : 'field-hint'} role={error ? 'alert' : undefined}>
        {error ?? hint}
      </p>
    </div>
  )
}
