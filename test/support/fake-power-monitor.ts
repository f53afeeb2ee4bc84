import { EventEmitter } from 'node:events'

/** On Linux, Electron delays a shutdown only for listeners after the first one. */
export class FakePowerMonitor extends EventEmitter {
  holds_shutdown = false
  is_used = false
  override on(event: string, listener: (...args: unknown[]) => void): this {
    this.holds_shutdown ||= this.is_used && event === 'shutdown'
    this.is_used = true
    return super.on(event, listener)
  }
  reset(): void {
    this.removeAllListeners()
    this.is_used = this.holds_shutdown = false
  }
}
