// Just enough of the zip format to pack a job's artifacts.
import { crc32, deflateRawSync } from 'node:zlib';

export function packZip(files: ReadonlyMap<string, Buffer>): Buffer {
  const packed = [...files].map(([path, content]) => pack(path, content));
  let offset = 0;
  const directory = packed.map(({ head, name, data, local }) => {
    const entry = Buffer.concat([toCentralHeader(head, offset), name]);
    offset += local.length + name.length + data.length;
    return entry;
  });
  const listed = Buffer.concat(directory);
  return Buffer.concat([
    ...packed.flatMap(({ local, name, data }) => [local, name, data]),
    listed,
    toEnd(packed.length, listed.length, offset),
  ]);
}

function pack(path: string, content: Buffer) {
  const name = Buffer.from(path);
  const data = deflateRawSync(content);
  // What local and central header have in common: version 2.0, UTF-8 names, deflated, 1980-01-01.
  const head = Buffer.alloc(26);
  head.writeUInt16LE(20, 0);
  head.writeUInt16LE(0x0800, 2);
  head.writeUInt16LE(8, 4);
  head.writeUInt16LE(0x0021, 8);
  head.writeUInt32LE(crc32(content), 10);
  head.writeUInt32LE(data.length, 14);
  head.writeUInt32LE(content.length, 18);
  head.writeUInt16LE(name.length, 22);
  return { name, data, head, local: Buffer.concat([Buffer.from('PK\x03\x04'), head]) };
}

function toCentralHeader(head: Buffer, offset: number): Buffer {
  const rest = Buffer.alloc(14);
  rest.writeUInt32LE(offset, 10);
  const madeBy = Buffer.from([20, 3]);
  return Buffer.concat([Buffer.from('PK\x01\x02'), madeBy, head, rest]);
}

function toEnd(count: number, directoryBytes: number, directoryOffset: number): Buffer {
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(count, 8);
  end.writeUInt16LE(count, 10);
  end.writeUInt32LE(directoryBytes, 12);
  end.writeUInt32LE(directoryOffset, 16);
  return end;
}
