import { useQuery } from '@tanstack/react-query'
import { Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { DatabaseTable, RowChange, TableColumn } from '../../../server/contract/database-browser.ts'
import { loadRow, useChangeRows, useRefetchRows } from '../../api/database-browser.ts'
import { useClient } from '../../api/query.ts'
import { Button } from '../../components/button.tsx'
import { Dialog } from '../../components/dialog.tsx'
import { ProblemView, SkeletonRows } from '../../components/feedback.tsx'
import { toApiError } from '../../lib/api-error.ts'
import { useForm } from '../../lib/use-form.ts'
import { cellText, prettyText } from './cell-text.ts'
import styles from './browser.module.css'

interface Props {
  slug: string
  table: DatabaseTable
  /** Null for a new row. */
  row_key: readonly string[] | null
  /** The column that was clicked. */
  column: string | undefined
  onClose: () => void
}

/** A row with all its values. A change first shows its SQL. */
export function RowDialog(props: Props) {
  const { slug, table, row_key } = props
  const client = useClient()
  const { data, error } = useQuery({
    queryKey: ['database-row', slug, table.schema, table.name, row_key],
    queryFn: ({ signal }) =>
      row_key === null ? null : loadRow(client, slug, table, row_key, signal).then((row) => row?.values.map(cellText) ?? 'gone'),
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  })
  return (
    <Dialog open onOpenChange={props.onClose} title={row_key === null ? `New row in ${table.name}` : `Row of ${table.name}`}>
      {error ? <ProblemView problem={toApiError(error)} /> : data === undefined ? <SkeletonRows rows={5} height={48} /> : null}
      {data === 'gone' && <p className="text-muted">This row no longer exists.</p>}
      {data !== undefined && data !== 'gone' && <RowForm {...props} before={data} />}
    </Dialog>
  )
}

/** `undefined` leaves a value to its default. */
type Values = Record<string, string | null | undefined>

function RowForm({ slug, table, row_key, column: focused, before, onClose }: Props & { before: (string | null)[] | null }) {
  const initial: Values = Object.fromEntries(
    table.columns.map(({ name, type }, index) => {
      const text = before?.[index]
      return [name, typeof text === 'string' ? prettyText(text, type) : before ? null : undefined]
    }),
  )
  const [pending, setPending] = useState<{ changes: RowChange[]; statements: string[] } | null>(null)
  const change = useChangeRows({ hidesErrorToast: true })
  const refetch = useRefetchRows(slug)
  const target = { schema: table.schema, table: table.name }
  const key = Object.fromEntries(table.row_key.map((name, index) => [name, row_key?.[index] ?? null]))

  const preview = (changes: RowChange[]) =>
    change.mutate({ params: { slug }, body: { changes, preview: true } }, { onSuccess: ({ statements }) => setPending({ changes, statements }) })
  const apply = (changes: RowChange[]) =>
    change.mutate(
      { params: { slug }, body: { changes } },
      {
        onSuccess: () => {
          refetch()
          onClose()
        },
      },
    )
  const { values, changes, is_dirty, set, props } = useForm({
    initial,
    onSubmit() {
      const changed = Object.fromEntries(Object.entries(changes).map(([name, value]) => [name, value ?? null]))
      if (row_key === null) return preview([{ kind: 'insert', ...target, values: changed }])
      const expected = Object.fromEntries(table.columns.flatMap(({ name }, index) => (name in changed ? [[name, before?.[index] ?? null]] : [])))
      preview([{ kind: 'update', ...target, key, values: changed, expected }])
    },
  })

  if (pending)
    return (
      <div className="stack">
        <p className="text-muted">This statement runs, and has to change exactly one row.</p>
        <pre className={styles.statement} aria-label="SQL">
          {pending.statements.join(';\n')}
        </pre>
        {change.error && <ProblemView problem={toApiError(change.error)} />}
        <div className="dialog-footer">
          <Button
            onClick={() => {
              setPending(null)
              change.reset()
            }}
          >
            Back
          </Button>
          <Button kind={pending.changes[0]?.kind === 'delete' ? 'danger' : 'primary'} busy={change.isPending} onClick={() => apply(pending.changes)}>
            {pending.changes[0]?.kind === 'delete' ? 'Delete row' : 'Apply change'}
          </Button>
        </div>
      </div>
    )
  const isEditable = row_key === null || table.row_key.length > 0
  return (
    <form className="stack" {...props}>
      <div className={styles.rowFields}>
        {table.columns.map((column) => (
          <ValueField
            key={column.name}
            column={column}
            value={values[column.name]}
            isNew={row_key === null}
            isReadOnly={!isEditable || column.is_generated}
            isFocused={column.name === focused}
            onChange={(value) => set({ [column.name]: value })}
          />
        ))}
      </div>
      {change.error && <ProblemView problem={toApiError(change.error)} />}
      <div className="dialog-footer">
        {row_key !== null && table.row_key.length > 0 && (
          <Button kind="danger" icon={Trash2} onClick={() => preview([{ kind: 'delete', ...target, key }])}>
            Delete…
          </Button>
        )}
        <Button type="submit" kind="primary" disabled={row_key !== null && !is_dirty} busy={change.isPending}>
          Show SQL…
        </Button>
      </div>
    </form>
  )
}

interface FieldProps {
  column: TableColumn
  value: string | null | undefined
  isNew: boolean
  isReadOnly: boolean
  isFocused: boolean
  onChange: (value: string | null | undefined) => void
}

function ValueField({ column, value, isNew, isReadOnly, isFocused, onChange }: FieldProps) {
  const { name, type, is_nullable, enum_values } = column
  const text = value ?? ''
  const common = { 'aria-label': name, disabled: isReadOnly, autoFocus: isFocused && !isReadOnly }
  const placeholder = value === null ? 'NULL' : isNew ? (column.default ?? (column.is_generated ? 'generated' : '')) : ''
  return (
    <div className="field">
      <span className={styles.fieldHead}>
        <span>
          <strong>{name}</strong> <span className="text-subtle">{type}</span>
        </span>
        {is_nullable && !isReadOnly && (
          <label className={styles.nullBox}>
            <input
              type="checkbox"
              checked={value === null}
              aria-label={`${name} is NULL`}
              onChange={({ target }) => onChange(target.checked ? null : '')}
            />
            NULL
          </label>
        )}
      </span>
      {enum_values ? (
        <select
          className="input select"
          {...common}
          value={text}
          onChange={({ target }) => onChange(target.value === '' ? (isNew ? undefined : null) : target.value)}
        >
          {(is_nullable || isNew) && <option value="">{placeholder}</option>}
          {enum_values.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      ) : (
        <textarea
          className="input mono"
          rows={Math.min(12, Math.max(1, text.split('\n').length, Math.ceil(text.length / 60)))}
          spellCheck={false}
          placeholder={placeholder}
          {...common}
          value={text}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </div>
  )
}
