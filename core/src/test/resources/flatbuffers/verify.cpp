// Prints whether a message is valid for the root type of a binary schema. Needs the library of
// FlatBuffers 2.0, but not its headers: what is called is declared here.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <vector>

namespace reflection {
struct Schema;
struct Object;
}

namespace flatbuffers {
bool Verify(const reflection::Schema &schema, const reflection::Object &root, const uint8_t *message, size_t length,
            uint32_t max_depth, uint32_t max_tables);
}

static std::vector<char> read(const char *name) {
  std::ifstream file(name, std::ios::binary);
  return std::vector<char>(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

// The fields of reflection.Schema are objects, enums, file_ident, file_ext, root_table.
static const uint16_t kRootTableEntry = 4 + 2 * 4;

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  std::vector<char> schema = read(argv[1]);
  std::vector<char> message = read(argv[2]);
  const char *table = schema.data() + *reinterpret_cast<uint32_t *>(schema.data());
  const char *vtable = table - *reinterpret_cast<const int32_t *>(table);
  const char *slot = table + *reinterpret_cast<const uint16_t *>(vtable + kRootTableEntry);
  const char *root = slot + *reinterpret_cast<const uint32_t *>(slot);
  bool valid = flatbuffers::Verify(*reinterpret_cast<const reflection::Schema *>(table),
                                   *reinterpret_cast<const reflection::Object *>(root),
                                   reinterpret_cast<const uint8_t *>(message.data()), message.size(), 64, 1000000);
  std::puts(valid ? "valid" : "invalid");
  return 0;
}
