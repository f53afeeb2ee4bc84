/** The source of the master key: the keychain in the desktop app, otherwise a file. */
export interface MasterKey {
  kind: 'keychain' | 'file_key'
  /** 32 bytes; created on the first call. */
  read(): Promise<Uint8Array>
}
