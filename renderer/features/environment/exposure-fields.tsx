import { useCapabilities } from '../../api/capabilities.ts'
import { SwitchField } from '../../components/field.tsx'

/** Who can read the value of a variable. */
export interface Exposure {
  is_sensitive: boolean
  is_write_only: boolean
  is_build_secret: boolean
}

export function ExposureFields({
  values: { is_sensitive, is_write_only, is_build_secret },
  onChange,
  isForAll = false,
  isFixed = false,
}: {
  values: Exposure
  onChange: (change: Partial<Exposure>) => void
  /** For several variables at once. */
  isForAll?: boolean
  /** The variable is already write-only, which cannot be undone. */
  isFixed?: boolean
}) {
  const { has_instance_api } = useCapabilities()
  return (
    <>
      {!is_write_only && (
        <SwitchField
          label={isForAll ? 'Mark all as sensitive' : 'Sensitive'}
          hint={isForAll ? undefined : 'Never revealed by “Show values”; reveal it individually.'}
          checked={is_sensitive}
          onChange={(checked) => onChange({ is_sensitive: checked })}
        />
      )}
      {has_instance_api && (
        <SwitchField
          label={isForAll ? 'Make all write-only' : 'Write-only'}
          hint={
            isFixed
              ? 'No one can read the value. To make it readable, delete the variable and add it again.'
              : isForAll
                ? 'No one can read the values again, not even you; apps and builds get them. This cannot be undone.'
                : 'No one can read the value again, not even you; apps and builds get it. This cannot be undone.'
          }
          checked={is_write_only}
          disabled={isFixed}
          onChange={(checked) => onChange({ is_write_only: checked })}
        />
      )}
      {has_instance_api && (
        <SwitchField
          label={isForAll ? 'Make all build secrets' : 'Build secret'}
          hint={isForAll ? undefined : 'A Dockerfile can mount it with RUN --mount=type=secret,id=KEY. It is in no layer of the image.'}
          checked={is_build_secret}
          onChange={(checked) => onChange({ is_build_secret: checked })}
        />
      )}
    </>
  )
}
