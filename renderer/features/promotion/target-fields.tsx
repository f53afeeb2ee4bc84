import { useId } from 'react'
import { usePromotionProjects } from '../../api/promotion-sides.ts'
import type { InstanceConnection } from '../../stores/connection.ts'
import { TextField } from '../../components/field.tsx'
import styles from './promotion.module.css'

/** Selects an instance by name and color. */
export function TargetInstanceField({
  legend,
  targets,
  to,
  onTo,
}: {
  legend: string
  targets: InstanceConnection[]
  to: InstanceConnection
  onTo: (id: string) => void
}) {
  const id = useId()
  return (
    <fieldset className={styles.promoteTargets}>
      <legend>{legend}</legend>
      {targets.map((one) => (
        <label key={one.id} className={styles.promoteTarget} style={{ '--hue': one.hue } as React.CSSProperties}>
          <input type="radio" name={id} checked={one.id === to.id} disabled={!one.is_signed_in} onChange={() => onTo(one.id)} />
          <span className={styles.promoteColour} aria-hidden />
          <span className="truncate">
            <strong>{one.name}</strong> <span className="text-subtle">{one.is_signed_in ? one.origin : 'Token required.'}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}

/** Selects a project of an instance by slug, with suggestions. */
export function TargetProjectField({
  connection,
  label,
  slug,
  onSlug,
  hint,
}: {
  connection: InstanceConnection
  label: string
  slug: string
  onSlug: (slug: string) => void
  hint: string
}) {
  const id = useId()
  const { data: projects } = usePromotionProjects(connection)
  return (
    <>
      <TextField label={label} mono required value={slug} list={id} onChange={({ target }) => onSlug(target.value)} hint={hint} />
      <datalist id={id}>
        {projects?.map((project) => (
          <option key={project.id} value={project.slug}>
            {project.name}
          </option>
        ))}
      </datalist>
    </>
  )
}
