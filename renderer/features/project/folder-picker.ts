import type { Bridge } from '../../../preload/bridge.ts'
import { useCapabilities } from '../../api/capabilities.ts'

/** Opens the folder dialog of the desktop app; null in a browser, or if the instance is not this machine. */
export function useFolderPicker(): Bridge['chooseFolder'] | null {
  const { is_local } = useCapabilities()
  return is_local && window.homeport ? window.homeport.chooseFolder : null
}
