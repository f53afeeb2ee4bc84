import type { Registrant } from '../../../server/contract/domains.ts'
import { TextField } from '../../components/field.tsx'
import styles from './page.module.css'

export const emptyRegistrant: Registrant = { name: '', email: '', address: '', city: '', country: '', postal_code: '', phone: '' }

const fields: readonly { name: keyof Registrant; label: string; autoComplete: string; type?: string; placeholder?: string }[] = [
  { name: 'name', label: 'Full name', autoComplete: 'name' },
  { name: 'email', label: 'Email', autoComplete: 'email', type: 'email' },
  { name: 'phone', label: 'Phone', autoComplete: 'tel', type: 'tel', placeholder: '+49 30 1234567' },
  { name: 'address', label: 'Street and number', autoComplete: 'street-address' },
  { name: 'postal_code', label: 'Postal code', autoComplete: 'postal-code' },
  { name: 'city', label: 'City', autoComplete: 'address-level2' },
  { name: 'country', label: 'Country code (two letters)', autoComplete: 'country', placeholder: 'DE' },
]

/** Registrant details. Stored encrypted and sent only to the registrar. */
export function RegistrantFields({
  value,
  onChange,
  issue,
}: {
  value: Registrant
  onChange: (value: Registrant) => void
  issue: (field: keyof Registrant) => string | undefined
}) {
  return (
    <fieldset className={styles.domainRegistrant}>
      <legend>Registrant</legend>
      {fields.map(({ name, label, ...input }) => (
        <TextField
          key={name}
          label={label}
          required
          value={value[name]}
          onChange={({ target }) => onChange({ ...value, [name]: name === 'country' ? target.value.toUpperCase().slice(0, 2) : target.value })}
          error={issue(name)}
          {...input}
        />
      ))}
    </fieldset>
  )
}
