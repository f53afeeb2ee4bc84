import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import type { SettingName, SettingRow, VariableRow } from './compare.ts'
import { environmentsWords, settingValue, settingWords } from './words.ts'

interface Names {
  from: string
  to: string
}

export function Settings({
  rows,
  names,
  chosen,
  onChoose,
}: {
  rows: SettingRow[]
  names: Names
  chosen: ReadonlySet<SettingName>
  onChoose: (chosen: ReadonlySet<SettingName>) => void
}) {
  const different = rows.filter(({ fate }) => fate === 'differs')
  const isNew = rows.some((row) => row.is_default)
  const taken = different.filter(({ what }) => chosen.has(what)).length
  return (
    <section className="promote-part" aria-labelledby="promote-settings">
      <h3 id="promote-settings">Settings</h3>
      {different.length === 0 ? (
        <p className="quiet">{isNew ? 'A new project begins with the same.' : 'All of them are the same there.'}</p>
      ) : (
        <>
          <label className="promote-check">
            <input
              type="checkbox"
              checked={taken === different.length}
              ref={(box) => {
                if (box) box.indeterminate = taken > 0 && taken < different.length
              }}
              onChange={({ target }) => onChoose(new Set(target.checked ? different.map(({ what }) => what) : []))}
            />
            Take these settings along
          </label>
          <Table caption="Settings that differ" names={isNew ? { ...names, to: `${names.to} (a new project)` } : names}>
            {different.map((row) => (
              <tr key={row.what}>
                <th scope="row">
                  <Check label={settingWords[row.what]} isOn={chosen.has(row.what)} onChange={() => onChoose(toggled(chosen, row.what))} />
                </th>
                <td>{settingValue(row, row.here)}</td>
                <td>{settingValue(row, row.there)}</td>
              </tr>
            ))}
          </Table>
          <Same count={rows.length - different.length} what="setting" />
        </>
      )}
    </section>
  )
}

export function Variables({
  rows,
  names,
  chosen,
  onChoose,
}: {
  rows: VariableRow[]
  names: Names
  chosen: ReadonlySet<string>
  onChoose: (chosen: ReadonlySet<string>) => void
}) {
  const different = rows.filter(({ fate }) => fate !== 'same')
  const missing = different.filter(({ fate }) => fate === 'only_here').map(({ what }) => what)
  return (
    <section className="promote-part" aria-labelledby="promote-variables">
      <h3 id="promote-variables">Variables, by name</h3>
      {rows.length === 0 && <p className="quiet">Neither side has any.</p>}
      {rows.length > 0 && different.length === 0 && <p className="quiet">Both have the same names. Their values are not compared.</p>}
      {different.length > 0 && (
        <>
          <p className="quiet">
            {missing.length > 0
              ? `Only those that you choose go along: their values are then sent from ${names.from} to ${names.to}. What is there keeps its value, and nothing is deleted.`
              : 'What is there keeps its value, and nothing is deleted.'}
          </p>
          <Table caption="Variables that differ" names={names}>
            {different.map(({ what, here, there, fate }) => (
              <tr key={what}>
                <th scope="row">
                  {fate === 'only_here' ? (
                    <Check label={what} isCode isOn={chosen.has(what)} onChange={() => onChoose(toggled(chosen, what))} />
                  ) : (
                    <code className="promote-kept">{what}</code>
                  )}
                </th>
                <td>{environmentsWords(here)}</td>
                <td>
                  {environmentsWords(there)}
                  {fate === 'only_there' && <span className="faint"> (kept)</span>}
                </td>
              </tr>
            ))}
          </Table>
          {missing.length > 1 && (
            <div className="row">
              <Button onClick={() => onChoose(new Set(missing))}>Choose all {missing.length} missing ones</Button>
              {chosen.size > 0 && <Button onClick={() => onChoose(new Set())}>None</Button>}
            </div>
          )}
          <Same count={rows.length - different.length} what="name" />
        </>
      )}
    </section>
  )
}

export function Warnings({ warnings }: { warnings: string[] }) {
  if (warnings.length === 0) return null
  return (
    <section className="promote-part" aria-labelledby="promote-warnings">
      <h3 id="promote-warnings">Worth knowing</h3>
      <ul className="promote-warnings">
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

function Table({ caption, names, children }: { caption: string; names: Names; children: ReactNode }) {
  return (
    <table className="promote-table">
      <caption className="unseen">{caption}</caption>
      <thead>
        <tr>
          <th scope="col">
            <span className="unseen">What</span>
          </th>
          <th scope="col">{names.from}</th>
          <th scope="col">{names.to}</th>
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}

function Check({ label, isCode = false, isOn, onChange }: { label: string; isCode?: boolean; isOn: boolean; onChange: () => void }) {
  return (
    <label className="promote-check">
      <input type="checkbox" checked={isOn} onChange={onChange} />
      {isCode ? <code>{label}</code> : label}
    </label>
  )
}

function Same({ count, what }: { count: number; what: string }) {
  if (count === 0) return null
  return <p className="faint">{count === 1 ? `One other ${what} is the same.` : `${count} other ${what}s are the same.`}</p>
}

function toggled<Item>(set: ReadonlySet<Item>, item: Item): ReadonlySet<Item> {
  const next = new Set(set)
  if (!next.delete(item)) next.add(item)
  return next
}
