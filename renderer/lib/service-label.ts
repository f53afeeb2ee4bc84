import { getPreset, isPresetName } from '../../server/contract/service-presets.ts'

/** “MariaDB” for `mariadb`; for an unknown service its own name. */
export const getServiceLabel = (name: string): string => (isPresetName(name) ? getPreset(name).label : name)
