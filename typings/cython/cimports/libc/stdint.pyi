from typing import TypeAlias

int8_t: TypeAlias = int
uint8_t: TypeAlias = int
int16_t: TypeAlias = int
uint16_t: TypeAlias = int
int32_t: TypeAlias = int
uint32_t: TypeAlias = int
int64_t: TypeAlias = int
uint64_t: TypeAlias = int
