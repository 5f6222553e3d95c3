/** Which version this is: of the package, of the core that it runs, and of the RocketMQ whose answers it is tested by. */
export const version: { readonly package: string; readonly core: string; readonly rocketmqVectors: string } = {
  package: __PACKAGE_VERSION__,
  core: __PACKAGE_VERSION__,
  rocketmqVectors: __ROCKETMQ_VECTORS__,
};

declare const __PACKAGE_VERSION__: string;
declare const __ROCKETMQ_VECTORS__: string;
