import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../components/button.tsx'
import type { SettingName, SettingComparison, VariableComparison } from '../../../server/client/promotion/compare.ts'
import { formatEnvironments, formatSetting, settingLabels } from './promotion-format.ts'
import styles from './promotion.module.css'

interface Names {
  from: string
  to: string
}

export function SettingDifferences({
  rows,
  names,
  chosen,
  onChoose,
}: {
  rows: SettingComparison[]
  names: Names
  chosen: ReadonlySet<SettingName>
  onChoose: (chosen: ReadonlySet<SettingName>) => void
}) {
  const different = rows.filter(({ difference }) => difference === 'differs')
  const isNew = rows.some((row) => row.is_default)
  const chosenCount = different.filter(({ setting }) => chosen.has(setting)).length
  return (
    <section className={styles.promotePart} aria-labelledby="promote-settings">
      <h3 id="promote-settings">Settings</h3>
      {different.length === 0 ? (
        <p className="text-muted">{isNew ? 'The new project gets the same settings.' : 'No differences.'}</p>
      ) : (
        <>
          <label className={styles.promoteCheck}>
            <input
              type="checkbox"
              checked={chosenCount === different.length}
              ref={(box) => {
                if (box) box.indeterminate = chosenCount > 0 && chosenCount < different.length
              }}
              onChange={({ target }) => onChoose(new Set(target.checked ? different.map(({ setting }) => setting) : []))}
            />
            Copy these settings
          </label>
          <ComparisonTable caption="Settings that differ" names={isNew ? { ...names, to: `${names.to} (a new project)` } : names}>
            {different.map((row) => (
              <tr key={row.setting}>
                <th scope="row">
                  <LabelledCheckbox
                    label={settingLabels[row.setting]}
                    isChecked={chosen.has(row.setting)}
                    onChange={() => onChoose(toggle(chosen, row.setting))}
                  />
                </th>
                <td>{formatSetting(row, row.source)}</td>
                <td>{formatSetting(row, row.target)}</td>
              </tr>
            ))}
          </ComparisonTable>
          <UnchangedCount count={rows.length - different.length} what="setting" />
        </>
      )}
    </section>
  )
}

export function VariableDifferences({
  rows,
  names,
  chosen,
  onChoose,
}: {
  rows: VariableComparison[]
  names: Names
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
}) {
  const different = rows.filter(({ difference }) => difference !== 'same')
  const missing = different.filter(({ difference, is_write_only }) => difference === 'only_here' && !is_write_only).map(({ key }) => key)
  return (
    <section className={styles.promotePart} aria-labelledby="promote-variables">
      <h3 id="promote-variables">Variables</h3>
      {rows.length === 0 && <p className="text-muted">Neither project has variables.</p>}
      {rows.length > 0 && different.length === 0 && <p className="text-muted">Both projects have the same variables. Values are not compared.</p>}
      {different.length > 0 && (
        <>
          <p className="text-muted">
            {missing.length > 0
              ? `Only the variables you select are copied: their values are sent from ${names.from} to ${names.to}. Existing values are kept and nothing is deleted.`
              : 'Existing values are kept and nothing is deleted.'}
          </p>
          <ComparisonTable caption="Variables that differ" names={names}>
            {different.map(({ key, source, target, difference, is_write_only }) => (
              <tr key={key}>
                <th scope="row">
                  {difference === 'only_here' && !is_write_only ? (
                    <LabelledCheckbox label={key} isCode isChecked={chosen.has(key)} onChange={() => onChoose(toggle(chosen, key))} />
                  ) : (
                    <code className={styles.promoteKept}>{key}</code>
                  )}
                </th>
                <td>{formatEnvironments(source)}</td>
                <td>
                  {formatEnvironments(target)}
                  {difference === 'only_there' && <span className="text-subtle"> (kept)</span>}
                  {difference === 'only_here' && is_write_only && <span className="text-subtle"> (write-only: add it there)</span>}
                </td>
              </tr>
            ))}
          </ComparisonTable>
          {missing.length > 1 && (
            <div className="row">
              <Button onClick={() => onChoose(new Set(missing))}>Select all {missing.length} missing</Button>
              {chosen.size > 0 && <Button onClick={() => onChoose(new Set())}>Clear selection</Button>}
            </div>
          )}
          <UnchangedCount count={rows.length - different.length} what="name" />
        </>
      )}
    </section>
  )
}

export function PromotionWarnings({ warnings }: { warnings: string[] }) {
  if (warnings.length === 0) return null
  return (
    <section className={styles.promotePart} aria-labelledby="promote-warnings">
      <h3 id="promote-warnings">Before you continue</h3>
      <ul className={styles.promoteWarnings}>
        {warnings.map((text) => (
          <li key={text}>
            <TriangleAlert size={15} aria-hidden />
            <span>{text}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

function ComparisonTable({ caption, names, children }: { caption: string; names: Names; children: ReactNode }) {
  return (
    <table className={styles.promoteTable}>
      <caption className="visually-hidden">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="visually-hidden">Name</span>
          </th>
          <th scope="col">{names.from}</th>
          <th scope="col">{names.to}</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

function LabelledCheckbox({
  label,
  isCode = false,
  isChecked,
  onChange,
}: {
  label: string
  isCode?: boolean
  isChecked: boolean
  onChange: () => void
}) {
  return (
    <label className={styles.promoteCheck}>
      <input type="checkbox" checked={isChecked} onChange={onChange} />
      {isCode ? <code>{label}</code> : label}
    </label>
  )
}

function UnchangedCount({ count, what }: { count: number; what: string }) {
  if (count === 0) return null
  return <p className="text-subtle">{count === 1 ? `One other ${what} is the same.` : `${count} other ${what}s are the same.`}</p>
}

function toggle<Item>(set: ReadonlySet<Item>, item: Item): ReadonlySet<Item> {
  const next = new Set(set)
  if (!next.delete(item)) next.add(item)
  return next
}
