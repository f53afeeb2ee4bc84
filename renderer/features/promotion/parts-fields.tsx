import { servicePresets } from '../../../server/contract/service-presets.ts'
import type { PartChoice, PartOffer } from '../../../server/client/promotion/parts.ts'
import { formatBytes } from '../../lib/format.ts'
import styles from './promotion.module.css'

interface Props {
  offer: PartOffer
  names: { from: string; to: string }
  choice: PartChoice
  onChoose: (choice: PartChoice) => void
}

/** The services that are added, and the data that is copied only if the user selects it. */
export function PromotedPartsFields({ offer, names, choice, onChoose }: Props) {
  const { services, catches_mail, has_database, volumes, database, dumps, unsupported } = offer
  const added = [
    ...services.map((name) => servicePresets[name].label),
    ...(has_database ? ['PostgreSQL'] : []),
    ...(catches_mail ? ['the mail catcher'] : []),
  ]
  const hasData = volumes.length > 0 || database !== null || dumps.length > 0
  if (added.length === 0 && !hasData && unsupported.length === 0) return null
  const occupied = [
    ...volumes.filter(({ name, target_bytes }) => choice.volumes.has(name) && target_bytes !== null).map(({ name }) => `the volume ${name}`),
    ...(database && !database.is_new && choice.copies_database ? ['the PostgreSQL database'] : []),
    ...dumps.filter(({ service, is_new }) => !is_new && choice.copied_services.has(service)).map(({ service }) => servicePresets[service].label),
  ]
  return (
    <section className={styles.promotePart} aria-labelledby="promote-parts">
      <h3 id="promote-parts">Services and data</h3>
      {added.length > 0 && <p>{`Added on ${names.to} before the deployment: ${added.join(', ')}.`}</p>}
      {unsupported.length > 0 && <p>{`Not available on ${names.to}: ${unsupported.join(', ')}.`}</p>}
      {hasData && (
        <>
          <p className="text-muted">Data is copied only if you select it. The project on {names.from} pauses while a volume is read.</p>
          <div className={styles.parts}>
            {volumes.map(({ name, size_bytes }) => (
              <DataCheckbox
                key={name}
                label={`Volume ${name}`}
                bytes={size_bytes}
                isChecked={choice.volumes.has(name)}
                onChange={() => onChoose({ ...choice, volumes: toggle(choice.volumes, name) })}
              />
            ))}
            {database && (
              <DataCheckbox
                label="Data of the PostgreSQL database"
                bytes={database.size_bytes}
                isChecked={choice.copies_database}
                onChange={() => onChoose({ ...choice, copies_database: !choice.copies_database })}
              />
            )}
            {dumps.map(({ service }) => (
              <DataCheckbox
                key={service}
                label={`Data of ${servicePresets[service].label}`}
                bytes={null}
                isChecked={choice.copied_services.has(service)}
                onChange={() => onChoose({ ...choice, copied_services: toggle(choice.copied_services, service) })}
              />
            ))}
          </div>
          {occupied.length > 0 && (
            <div className={styles.promoteBlock}>
              <p>{`${names.to} has data in ${occupied.join(', ')}. It is kept unless you replace it.`}</p>
              <label className={styles.promoteCheck}>
                <input
                  type="checkbox"
                  checked={choice.replaces_data}
                  onChange={() => onChoose({ ...choice, replaces_data: !choice.replaces_data })}
                />
                Replace data on {names.to}
              </label>
              <p className="text-muted">A snapshot or a dump of the current data is taken first.</p>
            </div>
          )}
        </>
      )}
    </section>
  )
}

function DataCheckbox({ label, bytes, isChecked, onChange }: { label: string; bytes: number | null; isChecked: boolean; onChange: () => void }) {
  return (
    <label className={styles.promoteCheck}>
      <input type="checkbox" checked={isChecked} onChange={onChange} />
      <span>
        {label} {bytes !== null && <span className="text-subtle">{formatBytes(bytes)}</span>}
      </span>
    </label>
  )
}

function toggle<Item>(set: ReadonlySet<Item>, item: Item): ReadonlySet<Item> {
  const next = new Set(set)
  if (!next.delete(item)) next.add(item)
  return next
}
