import { planFactLabels } from '../../../server/contract/labels.ts'
import type { PlannedSource } from '../../../server/contract/source-plans.ts'
import { frameworkName } from '../../lib/frameworks.ts'
import styles from './plan.module.css'

interface Row {
  key: string
  service: string
  label: string
  value: string | null
  origin: string
}

/** Every fact of a plan with its origin. */
export function FactsTable({ plan }: { plan: PlannedSource }) {
  const rows = listRows(plan)
  const hasServices = plan.services.length + plan.managed.length > 1
  return (
    <table className={styles.facts}>
      <caption className="visually-hidden">Facts of the plan and where they come from</caption>
      <thead>
        <tr>
          {hasServices && <th scope="col">Service</th>}
          <th scope="col">Fact</th>
          <th scope="col">Value</th>
          <th scope="col">From</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ key, service, label, value, origin }, index) => (
          <tr key={key} data-starts-group={index > 0 && rows[index - 1]?.service !== service ? true : undefined}>
            {hasServices && <td>{rows[index - 1]?.service === service ? '' : service}</td>}
            <th scope="row">{label}</th>
            <td className="mono">{value ?? <span className="text-subtle">None</span>}</td>
            <td className="text-subtle">{origin}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function listRows({ services, builds, facts, managed }: PlannedSource): Row[] {
  const groups = services.map((service) => ({
    service: service.name,
    // The facts of a shared build are shown with the first of its services.
    facts: [...(builds.find((build) => build.services[0] === service.name)?.facts ?? []), ...service.facts],
  }))
  const rows = [...groups, { service: 'All', facts }].flatMap(({ service, facts: found }) =>
    found.map(({ name, value, origin }, index) => ({
      key: `${service} ${index}`,
      service,
      label: planFactLabels[name],
      value: name === 'framework' && value !== null ? frameworkName(value) : value,
      origin,
    })),
  )
  const managedRows = managed.flatMap(({ name, label, image, variables, origin }): Row[] => {
    const base = { service: name, origin }
    return [
      { ...base, key: `${name} managed`, label: 'Managed service', value: image === null ? label : `${label}, ${image}` },
      { ...base, key: `${name} variables`, label: 'Variables', value: variables.join(', '), origin: 'default' },
    ]
  })
  return [...rows, ...managedRows]
}
