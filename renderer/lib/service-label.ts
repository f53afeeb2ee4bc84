import { getPreset, isPresetName } from '../../server/contract/service-presets.ts'

/** “MariaDB” for `mariadb`; the name of a service that this dashboard does not know. */
export const getServiceLabel = (name: string): string => (isPresetName(name) ? getPreset(name).label : name)
