import type { Bridge } from '../../../preload/bridge.ts'
import { useInstance } from '../../api/queries.ts'

/** Opens the desktop's own folder dialog; null where there is none, or where the instance is not this machine. */
export function useFolderPicker(): Bridge['chooseFolder'] | null {
  const isLocal = useInstance().data?.instance.is_local ?? false
  return isLocal && window.homeport ? window.homeport.chooseFolder : null
}
